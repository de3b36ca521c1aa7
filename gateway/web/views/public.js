// For spectators: games, not boards. No differences, no alerts, names large; twenty boards a page, turned every 20 s.

import { Board } from '../board.js';
import { pieces, squaresOf } from '../fen.js';
import { reading } from '../time.js';
import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { lastMove, trouble } from './words.js';

const PER_PAGE = 20;
const PAGE_MS = 20_000;

export class PublicView {
  static place = 'public';

  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.boards = new Map();
  }

  draw(changes, look) {
    const { hall, words } = this.app;
    const tables = hall.sorted();
    const pages = Math.max(1, Math.ceil(tables.length / PER_PAGE));
    const page = Math.floor(look.at / PAGE_MS) % pages;
    const shown = tables.slice(page * PER_PAGE, (page + 1) * PER_PAGE);
    render(
      html`<h1 class="quiet">${words.t('hall.label')}</h1><p class="facts">${pages > 1 ? words.t('public.page', { page: page + 1, pages }) : nothing}</p>
        ${shown.length ? html`<ul class="games">${shown.map((table) => this.#game(table, look.at))}</ul>` : html`<p class="empty">${words.t('hall.empty')}</p>`}`,
      this.place,
    );
  }

  #game(table, at) {
    const { hall, words } = this.app;
    const presence = hall.presence(table, at);
    const game = table.value('game');
    const clock = presence.state === 'live' ? hall.clock(table, at, presence) : null;
    const player = (side) => html`<span class="swatch ${side}" role="img" aria-label=${words.t(side)}></span>
      <span class="name">${game?.[side] || words.t(side)}</span>${this.#reading(clock, side)}`;
    const age = clock?.stale && clock.age !== null ? words.t('old', { age: words.age(clock.age) }) : '';
    return html`<li class=${presence.state}><h2 class="player"><span class="number">${table.id}</span>${player('black')}</h2>
      ${this.#board(table)}
      <p class="player">${player('white')}</p>
      <p class="state"><span>${game?.result ? html`<b>${game.result}</b>` : lastMove(table, words)}</span>
        <em>${presence.state === 'live' ? age : `✕ ${trouble(presence, words)}`}</em></p></li>`;
  }

  #reading(clock, side) {
    if (!clock) return nothing;
    const runs = clock.running === side;
    return html`<span class="reading ${runs ? 'runs' : ''} ${clock.stale ? 'stale' : ''}"
      >${runs ? '▸' : ''}${reading(clock[side])}${clock.flags.includes(side) ? '⚑' : ''}</span>`;
  }

  #board(table) {
    const known = this.boards.get(table.id);
    const board = known?.game === table.game ? known : new Board(table.game, { king: this.app.words.t('king.letter') });
    this.boards.set(table.id, board);
    board.show(pieces(table.game, table.value('position')?.fen), {
      last: squaresOf(table.value('game')?.moves?.at(-1)),
      label: this.app.words.t('table.label', { table: table.id }),
    });
    return board.el;
  }
}
