// For spectators: games, not boards. No differences, no alerts, names large; twenty boards a page, turned every 20 s.

import { Board } from '../board.js';
import { pieces, squaresOf } from '../fen.js';
import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { lastMove, readings, trouble } from './words.js';

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
    return html`<li class=${presence.state}><h2><span class="number">${table.id}</span> □ ${game?.white || words.t('white')}<br>■ ${game?.black || words.t('black')}</h2>
      ${this.#board(table)}
      <p>${game?.result ? html`<b>${game.result}</b>` : lastMove(table, words)}</p>
      <p>${presence.state === 'live' ? readings(hall.clock(table, at), words) : `✕ ${trouble(presence, words)}`}</p></li>`;
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
