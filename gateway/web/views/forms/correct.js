// The moves from a certain one on, as they were really played. The gateway judges whether they are legal.

import { html } from '../../vendor/lit-html/lit-html.js';
import { Board } from '../../board.js';
import { pieces } from '../../fen.js';
import { notation, number } from '../words.js';

export class Correct {
  key = null;

  constructor(sheet) {
    this.sheet = sheet;
    this.from = null;
    this.moves = '';
    this.picked = null;
    const { game } = sheet.state;
    this.drawn = new Board(game, { numbers: true, onSquare: (square) => this.#square(square) });
  }

  /** Squares are tapped on the board of the sheet itself. */
  get board() {
    const table = this.sheet.state;
    this.drawn.show(pieces(table.game, table.value('position')?.fen), {
      last: this.picked ? [this.picked] : [],
      turned: Boolean(this.sheet.app.prefs.get('turned')),
      label: this.sheet.app.words.t('sheet.table', { table: this.sheet.table }),
    });
    return this.drawn.el;
  }

  body() {
    const { t } = this.sheet.app.words;
    const game = this.sheet.state.value('game');
    const moves = game?.moves ?? [];
    const choose = (ply) => {
      this.from = ply;
      this.sheet.app.touch();
    };
    const option = (ply, words) => html`<button type="button" class="option" aria-pressed=${this.from === ply} @click=${() => choose(ply)}>
      <span class="tick" aria-hidden="true">${this.from === ply ? '◉' : '○'}</span> ${words}</button>`;
    return html`<fieldset class="plies"><legend>${t('correct.from')}</legend>
        ${moves.map((move) => option(move.ply, `${number(move, game)} ${notation(move, game.game)}`))}
        ${option(this.#next, t('correct.none'))}</fieldset>
      <label>${t('correct.moves')}<input autocapitalize="none" autocomplete="off" spellcheck="false" .value=${this.moves}
        @input=${(event) => this.#type(event.target.value)}></label>
      <p class="why">${t('correct.how')}</p>`;
  }

  says() {
    const { t } = this.sheet.app.words;
    const game = this.sheet.state.value('game');
    const move = game?.moves.find(({ ply }) => ply === this.from);
    const shown = move ? number(move, game) : this.from === null ? '?' : t('correct.none');
    return t('correct.go', { table: this.sheet.table, move: shown });
  }

  command() {
    const moves = this.moves.trim().split(/\s+/).filter(Boolean);
    if (this.from === null || !moves.length) return null;
    return { command: 'correct', from_ply: this.from, moves };
  }

  get #next() {
    return (this.sheet.state.value('game')?.moves.at(-1)?.ply ?? 0) + 1;
  }

  #type(text) {
    this.moves = text;
    this.sheet.app.touch();
  }

  #square(square) {
    if (this.picked === square) this.picked = null;
    else if (!this.picked) this.picked = square;
    else {
      const between = this.sheet.state.game === 'draughts' ? '-' : '';
      this.moves = `${this.moves} ${this.picked}${between}${square}`.trim();
      this.picked = null;
    }
    this.sheet.app.touch();
  }
}
