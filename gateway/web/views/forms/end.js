// The result, in words with names.

import { html } from '../../vendor/lit-html/lit-html.js';
import { choice } from './choice.js';

const RESULTS = {
  chess: { '1-0': 'white', '0-1': 'black', '1/2-1/2': 'end.draw', '*': 'end.unknown' },
  draughts: { '2-0': 'white', '0-2': 'black', '1-1': 'end.draw', '0-0': 'end.both_lose', '*': 'end.unknown' },
};

export class End {
  key = null;

  constructor(sheet) {
    this.sheet = sheet;
    this.result = null;
    this.reason = '';
  }

  body() {
    const { t } = this.sheet.app.words;
    const table = this.sheet.state;
    const results = RESULTS[table.game === 'draughts' ? 'draughts' : 'chess'];
    const words = (result, key) => {
      const side = key === 'white' || key === 'black';
      const name = side ? table.value('game')?.[key] : null;
      return `${result}  ${name ? `${name}, ` : ''}${t(key)}`;
    };
    const choose = (result) => {
      this.result = result;
      this.sheet.app.touch();
    };
    const options = Object.entries(results).map(([result, key]) => [result, words(result, key)]);
    return html`${choice(t('end.how'), options, this.result, choose)}
      <label>${t('end.reason')}<input maxlength="200" .value=${this.reason} @input=${(event) => (this.reason = event.target.value)}></label>`;
  }

  says() {
    const { t } = this.sheet.app.words;
    return this.result ? t('end.go', { table: this.sheet.table, result: this.result }) : t('end.how');
  }

  command() {
    if (!this.result) return null;
    const command = { command: 'end_game', result: this.result };
    if (this.reason.trim()) command.reason = this.reason.trim();
    return command;
  }
}
