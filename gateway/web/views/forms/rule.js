// A ruling on one alert: upheld, dismissed, or closed without either. Rulings count, so none is chosen beforehand.

import { html, nothing } from '../../vendor/lit-html/lit-html.js';
import { SIGNS, sentence } from '../words.js';
import { choice } from './choice.js';

const RULINGS = ['upheld', 'dismissed', 'none'];

export class Rule {
  constructor(sheet, key) {
    this.sheet = sheet;
    const open = [...sheet.state.alerts.keys()];
    // With several open alerts the arbiter says which one he means.
    this.key = key ?? (open.length === 1 ? open[0] : null);
    this.ruling = null;
    this.note = '';
  }

  get #words() {
    return this.sheet.app.words;
  }

  body() {
    const words = this.#words;
    const { t } = words;
    const alerts = [...this.sheet.state.alerts.values()];
    const alert = this.sheet.state.alerts.get(this.key);
    const pick = (key) => {
      this.key = key;
      this.ruling = null;
      this.sheet.chosen();
    };
    const rule = (ruling) => {
      this.ruling = ruling;
      this.sheet.app.touch();
    };
    return html`${alerts.length > 1
        ? choice(t('sheet.which'), alerts.map((one) => [one.alert_id, `${SIGNS[one.severity]} ${words.kind(one.irregularity)}`]), this.key, pick)
        : nothing}
      ${alert ? html`<p class="says">${SIGNS[alert.severity]} ${sentence(alert)}</p>` : nothing}
      ${choice(t('rule.choose'), RULINGS.map((ruling) => [ruling, t(`rule.${ruling}`)]), this.ruling, rule)}
      <label>${t('rule.note')}<input maxlength="200" .value=${this.note} @input=${(event) => (this.note = event.target.value)}></label>`;
  }

  says() {
    const { t } = this.#words;
    return this.ruling ? t(`rule.go.${this.ruling}`, { table: this.sheet.table }) : t('rule.go');
  }

  command() {
    if (!this.key || !this.ruling) return null;
    const command = { command: 'acknowledge', alert_id: this.key };
    if (this.ruling !== 'none') command.ruling = this.ruling;
    if (this.note.trim()) command.note = this.note.trim();
    return command;
  }
}
