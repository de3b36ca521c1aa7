// The position that the arbiter has put back. First offer: the board as it stands.

import { html, nothing } from '../../vendor/lit-html/lit-html.js';
import { Board } from '../../board.js';
import { pieces, placement } from '../../fen.js';
import { choice } from './choice.js';

const PALETTE = { chess: [...'KQRBNPkqrbnp'], draughts: [...'wWbB'] };
const CASTLING = [...'KQkq'];
const SIDES = ['white', 'black'];

export class SetPosition {
  key = null;

  constructor(sheet) {
    this.sheet = sheet;
    this.from = null;
    this.turn = null;
    this.piece = null;
    const { state } = sheet;
    this.draughts = state.game === 'draughts';
    const fen = state.value('position')?.fen ?? '';
    this.castling = new Set(this.draughts ? [] : CASTLING.filter((right) => fen.split(' ')[2]?.includes(right)));
    this.counts = this.draughts ? null : fen.split(' ').slice(4);
    this.position = new Map();
    this.drawn = new Board(state.game, { numbers: true, onSquare: (square) => this.#put(square) });
  }

  get board() {
    this.drawn.show(this.position, {
      turned: Boolean(this.sheet.app.prefs.get('turned')),
      label: this.sheet.app.words.t('set.fen'),
    });
    return this.drawn.el;
  }

  body() {
    const { t } = this.sheet.app.words;
    const set = (name) => (value) => {
      this[name] = value;
      this.sheet.app.touch();
    };
    return html`${choice(t('set.fen'), ['stands', 'game', 'palette'].map((way) => [way, t(`set.${way}`)]), this.from, (way) => this.#begin(way))}
      ${this.#unknown ? html`<p class="problem">▲ ${t('set.unknown')}</p>` : nothing}
      ${this.from === 'palette' ? this.#palette(t) : nothing}
      ${choice(t('set.to_move'), SIDES.map((side) => [side, t(side)]), this.turn, set('turn'))}
      ${this.draughts ? nothing : this.#rights(t)}
      <p class="why fen">${this.#fen() ?? ''}</p>`;
  }

  says() {
    return this.sheet.app.words.t('set.go', { table: this.sheet.table });
  }

  command() {
    const fen = this.#fen();
    return fen && !this.#unknown ? { command: 'set_position', fen } : null;
  }

  #begin(way) {
    const { state } = this.sheet;
    this.from = way;
    if (way === 'stands') this.position = pieces(state.game, state.value('board')?.physical);
    if (way === 'game') this.position = pieces(state.game, state.value('position')?.fen);
    this.sheet.app.touch();
  }

  #palette(t) {
    const name = (piece) => t(this.draughts ? `man.${piece}` : `piece.${piece}`);
    const press = (piece) => {
      this.piece = piece;
      this.sheet.app.touch();
    };
    return html`<div class="palette row">${[...PALETTE[this.draughts ? 'draughts' : 'chess'], null].map((piece) => html`<button type="button"
      aria-pressed=${this.piece === piece} @click=${() => press(piece)}>${piece ? name(piece) : t('set.empty')}</button>`)}</div>`;
  }

  #rights(t) {
    const toggle = (right) => {
      if (!this.castling.delete(right)) this.castling.add(right);
      this.sheet.app.touch();
    };
    return html`<fieldset class="row"><legend>${t('set.castling')}</legend>${CASTLING.map((right) => html`<button type="button"
      aria-pressed=${this.castling.has(right)} @click=${() => toggle(right)}>${t(right < 'a' ? 'white' : 'black')} ${/k/i.test(right) ? '0-0' : '0-0-0'}</button>`)}</fieldset>`;
  }

  #put(square) {
    if (this.from !== 'palette') return;
    this.position = new Map(this.position);
    if (this.piece) this.position.set(square, this.piece);
    else this.position.delete(square);
    this.sheet.app.touch();
  }

  get #unknown() {
    const known = this.draughts ? /^[wb]$/i : /^[kqrbnp]$/i;
    return [...this.position.values()].some((piece) => !known.test(piece));
  }

  #fen() {
    if (!this.from || !this.turn || !this.position.size) return null;
    const side = this.turn[0];
    if (this.draughts) return `${side.toUpperCase()}:${placement('draughts', this.position)}`;
    const rights = CASTLING.filter((right) => this.castling.has(right)).join('') || '-';
    const [half = '0', full = '1'] = this.counts ?? [];
    return `${placement('chess', this.position)} ${side} ${rights} - ${half} ${full}`;
  }
}
