// What an alert rests on: squares, readings, articles, and what the rules provide.

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { reading } from '../time.js';
import { sentence } from './words.js';

export class Evidence {
  #catalogue = null;

  constructor(app) {
    this.app = app;
    fetch('catalogue.json')
      .then((answer) => answer.json())
      .then((catalogue) => {
        this.#catalogue = catalogue;
        app.touch();
      });
  }

  of(item) {
    const { t } = this.app.words;
    const { evidence, articles, irregularity } = item.alert;
    const readings = evidence?.readings;
    const rows = [
      [t('evidence.move'), evidence?.move],
      [t('evidence.squares'), evidence?.squares?.join(', ')],
      [t('evidence.readings'), readings && `${t('white')} ${reading(readings.white)}, ${t('black')} ${reading(readings.black)}`],
      [t('evidence.range'), evidence?.t?.map((second) => `${second} s`).join(' – ')],
      [t('evidence.articles'), articles.join('; ')],
      [t('evidence.remedy'), this.#catalogue?.[irregularity]?.remedy],
    ].filter(([, value]) => value);
    return html`<details><summary>${t('evidence')}</summary><dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></details>`;
  }

  /** What is kept and shown on request only. */
  infos(table) {
    const { words } = this.app;
    if (!table.infos.length) return nothing;
    return html`<details class="infos"><summary>${words.t('infos')} (${table.infos.length})</summary><ul>${table.infos.map(
      (info) => html`<li>${words.time(this.app.hall.ours(table.gateway ?? table.id, Date.parse(info.time)))} ${sentence(info)}</li>`,
    )}</ul></details>`;
  }
}
