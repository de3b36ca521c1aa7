// The sheet for commands: table, names and board once more, a choice without a default, and a last button that says
// what will happen. Nothing is shown as done before the gateway has answered.

import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { Board } from '../board.js';
import { pieces } from '../fen.js';
import { now } from '../time.js';
import { Correct } from './forms/correct.js';
import { End } from './forms/end.js';
import { More } from './forms/more.js';
import { Rule } from './forms/rule.js';
import { SetPosition } from './forms/set.js';
import { names } from './words.js';

const DISARMED = 1000;
const FORMS = { rule: Rule, correct: Correct, set: SetPosition, end: End, more: More };

export class Sheet {
  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.form = null;
    place.addEventListener('close', () => (this.form = null));
  }

  open(act, table, key = null) {
    if (!this.app.hall.tables.has(table)) return;
    this.table = table;
    this.order = null;
    this.warning = null;
    this.armedAt = 0;
    this.board = null;
    this.form = new FORMS[act](this, key);
    this.before = this.#alertState();
    this.place.showModal();
    this.app.touch();
  }

  get state() {
    return this.app.hall.tables.get(this.table);
  }

  draw(look) {
    if (!this.form) return;
    if (!this.state) {
      this.place.close();
      return;
    }
    this.#watchAlert();
    const { words } = this.app;
    const game = this.state.value('game');
    render(
      html`<div class="head"><div class="mini">${this.form.board ?? this.#mini()}</div>
          <h2><span class="number">${this.table}</span><span>${names(game, words)}</span></h2></div>
        ${this.warning ? html`<p class="problem" role="alert">▲ ${words.t(this.warning)}</p>` : nothing}
        ${this.order ? nothing : html`<div class="body">${this.form.body(look)}</div>`}
        ${this.#foot(look)}`,
      this.place,
    );
  }

  /** The form may be sent: it is complete, the connection is there, and nothing has just changed under the finger. */
  #foot(look) {
    const { t } = this.app.words;
    if (this.order) return this.#progress(t);
    const command = this.form.command();
    const armed = now() >= this.armedAt;
    return html`<div class="row last">
      <button @click=${() => this.place.close()}>${t('sheet.close')}</button>
      <button class="strong" ?disabled=${!command || !look.hears || !armed} @click=${() => this.#send(command)}>${this.form.says()}</button>
    </div>${look.hears ? nothing : html`<p class="unseen" role="alert">✕ ${t('sheet.offline')}</p>`}`;
  }

  #progress(t) {
    const { status, error } = this.order;
    const again = status === 'unconfirmed' || status === 'offline';
    return html`<p class="order ${status}" role="status">${t(`order.${status}`, { error })}</p>
      <div class="row last">${again
        ? html`<button class="strong" ?disabled=${!this.app.hall.connected} @click=${() => this.app.commands.again(this.order)}>${t('order.again')}</button>`
        : nothing}
        ${status === 'refused' ? html`<button @click=${() => this.#retry()}>${t('back')}</button>` : nothing}
        <button @click=${() => this.place.close()}>${t('order.finish')}</button></div>`;
  }

  #send(command) {
    // The connection may have gone between the drawing and the tap.
    if (!command || !this.app.hall.hears(now()) || now() < this.armedAt) return;
    this.order = this.app.commands.give(this.table, command);
    this.app.touch();
  }

  #retry() {
    this.order = null;
    this.app.touch();
  }

  #alertState() {
    const { key } = this.form;
    if (!key) return null;
    const alert = this.state?.alerts.get(key);
    if (!alert) return 'gone';
    const { attended_by: _, ...evidence } = alert.evidence ?? {};
    return JSON.stringify([alert.irregularity, alert.severity, alert.side, alert.message, evidence.squares, evidence.move]);
  }

  /** What the ruling is about may change while it is being given. */
  #watchAlert() {
    if (this.order || !this.form.key) return;
    const state = this.#alertState();
    if (state === this.before) return;
    this.before = state;
    this.warning = state === 'gone' ? 'sheet.gone' : 'sheet.changed';
    this.armedAt = now() + DISARMED;
  }

  /** To be called by a form whose alert was chosen. */
  chosen() {
    this.before = this.#alertState();
    this.warning = null;
    this.app.touch();
  }

  #mini() {
    const table = this.state;
    if (this.board?.game !== table.game) this.board = new Board(table.game);
    this.board.show(pieces(table.game, table.value('position')?.fen), {
      turned: Boolean(this.app.prefs.get('turned')),
      label: this.app.words.t('sheet.table', { table: this.table }),
    });
    return this.board.el;
  }
}
