// What is needed less often: names, a new game, a rest, and how board and clock lie.

import { html, nothing } from '../../vendor/lit-html/lit-html.js';
import { choice } from './choice.js';

/** Command -> the values to choose from, where it takes one: argument and choices. */
const COMMANDS = {
  assign: null,
  start_game: null,
  suspend: ['reason', ['interruption', 'adjournment']],
  resume: null,
  set_orientation: ['value', ['auto', 'normal', 'rotated']],
  set_white_side: ['value', ['auto', 'left', 'right']],
};
const FIELDS = ['white', 'black', 'round', 'event', 'time_control'];

export class More {
  key = null;

  constructor(sheet) {
    this.sheet = sheet;
    this.name = null;
    this.value = null;
    const game = sheet.state.value('game');
    this.fields = Object.fromEntries(FIELDS.map((field) => [field, game?.[field] ?? '']));
    this.before = { ...this.fields };
  }

  body() {
    const { t } = this.sheet.app.words;
    const set = (name) => {
      this.name = name;
      this.value = null;
      this.sheet.app.touch();
    };
    const values = COMMANDS[this.name];
    const pick = (value) => {
      this.value = value;
      this.sheet.app.touch();
    };
    return html`${choice(t('act.more'), Object.keys(COMMANDS).map((name) => [name, html`<b>${t(`more.${name}`)}</b> <small>${t(`more.${name}.what`)}</small>`]), this.name, set)}
      ${values ? choice(t(`more.${this.name}`), values[1].map((value) => [value, t(`value.${value}`)]), this.value, pick) : nothing}
      ${this.name === 'assign' ? FIELDS.map((field) => this.#field(field, t)) : nothing}`;
  }

  says() {
    const { t } = this.sheet.app.words;
    if (!this.name) return t('act.more');
    return t(`more.go.${this.name}`, { table: this.sheet.table, value: this.value ? t(`value.${this.value}`) : '?' });
  }

  command() {
    if (!this.name) return null;
    const argument = COMMANDS[this.name]?.[0];
    if (argument) return this.value ? { command: this.name, [argument]: this.value } : null;
    if (this.name !== 'assign') return { command: this.name };
    const changed = FIELDS.filter((field) => this.fields[field] !== this.before[field]);
    if (!changed.length) return null;
    return { command: 'assign', ...Object.fromEntries(changed.map((field) => [field, this.fields[field].trim() || null])) };
  }

  #field(field, t) {
    const type = (event) => {
      this.fields[field] = event.target.value;
      this.sheet.app.touch();
    };
    return html`<label>${t(`field.${field}`)}<input .value=${this.fields[field]} @input=${type}></label>`;
  }
}
