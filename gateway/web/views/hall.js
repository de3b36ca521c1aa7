// The hall: every table, always in the same place. On a wall with boards, on a phone a number, a clock and a sign.
//
// Sixty tiles are drawn by hand rather than by templates: a tick touches a few text nodes, a move two pieces.

import { Board } from '../board.js';
import { pieces, squaresOf } from '../fen.js';
import { now, reading } from '../time.js';
import { SIGNS, lastMove, trouble } from './words.js';

const TILE = { width: 150, height: 196 };
const PHONE = 700;
/** Boards smaller than this are ink only. */
const LEAST = 0.72;
/** Time for drawing in one frame; what is left waits for the next, so that nothing stalls. */
const BUDGET = 6;
/** What the browser then does for each tile that changed, and for a board that is new, costs more than our part. */
const CHANGES = 12;
const NEW_BOARDS = 3;
const LATE = 250;

export class HallView {
  static place = 'hall';

  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.title = element('h1', 'quiet', place);
    this.grid = element('div', 'grid', place);
    this.empty = element('p', 'empty', place);
    this.tiles = new Map();
    /** Tables by id: whose time, and whose board, is still to be drawn. */
    this.due = new Set();
    this.waiting = new Set();
    /** Since when something is due. */
    this.since = Infinity;
    /** Whether there are tables without a tile. */
    this.more = false;
    // Chips come and go above the hall, and take from its height.
    this.resized = new ResizeObserver(() => this.#fit());
    this.resized.observe(place.parentElement);
  }

  leave() {
    this.resized.disconnect();
  }

  shows() {
    return true;
  }

  draw({ tables, tick, alerts, all }, look) {
    const { hall, words } = this.app;
    if (hall.tables.size !== this.tiles.size || all) this.more = true;
    this.title.textContent = words.t('hall.label');
    this.empty.hidden = this.tiles.size > 0;
    this.empty.textContent = words.t('hall.empty');
    this.worst = new Map();
    for (const item of look.items) {
      if (item.severity !== 'gone' && !this.worst.has(item.table)) this.worst.set(item.table, item);
    }
    // What somebody has just said comes first.
    if (!this.due.size) this.since = now();
    this.due = new Set([...tables, ...this.due, ...(tick || alerts || all ? this.tiles.keys() : [])]);
    for (const id of all ? this.tiles.keys() : tables) this.waiting.add(id);
    if (!this.working) this.#work();
  }

  /** Draw for as long as there is time in this frame; the rest in the next. */
  #work() {
    const began = performance.now();
    // Where frames are slow for other reasons than ours, few tiles in each would only make it later.
    const most = now() - this.since > LATE ? Infinity : CHANGES;
    if (this.more) this.#keep(most);
    let changed = 0;
    for (const id of this.due) {
      this.due.delete(id);
      const table = this.app.hall.tables.get(id);
      if (table && this.tiles.get(id)?.tick(table, this.worst.get(id), now())) changed++;
      if (changed >= most) break;
    }
    if (!this.due.size) this.since = Infinity;
    let made = 0;
    for (const id of this.waiting) {
      this.waiting.delete(id);
      const table = this.app.hall.tables.get(id);
      if (table && this.tiles.get(id)?.show(table, this.boards)) made++;
      if (made >= NEW_BOARDS || performance.now() - began > BUDGET) break;
    }
    if ((this.more || this.due.size || this.waiting.size) && !this.working) {
      this.working = true;
      requestAnimationFrame(() => {
        this.working = false;
        this.#work();
      });
    }
  }

  /** Tiles for the tables there are, in the order in which people count; some now, the rest in the next frames. */
  #keep(most) {
    const ids = this.app.hall.sorted().map((table) => table.id);
    const before = this.tiles.size;
    for (const [id, tile] of this.tiles) {
      if (ids.includes(id)) continue;
      tile.el.remove();
      this.tiles.delete(id);
    }
    let place = 0;
    let made = 0;
    this.more = false;
    for (const id of ids) {
      if (!this.tiles.has(id)) {
        this.more = made >= most;
        if (this.more) break;
        made++;
        this.tiles.set(id, new Tile(this.app, id));
        this.due.add(id);
        this.waiting.add(id);
      }
      const { el } = this.tiles.get(id);
      if (this.grid.children[place] !== el) this.grid.insertBefore(el, this.grid.children[place] ?? null);
      place++;
    }
    this.empty.hidden = this.tiles.size > 0;
    if (this.tiles.size !== before || !this.fitted) this.#fit(ids.length);
  }

  /** The largest tiles with which all tables are on one screen. */
  #fit(count = this.app.hall.tables.size) {
    const width = this.grid.clientWidth;
    const height = this.place.parentElement.clientHeight - 8;
    if (!count || !width) return;
    this.fitted = true;
    let best = { scale: 0, columns: 1 };
    for (let columns = 1; columns <= count; columns++) {
      const rows = Math.ceil(count / columns);
      const scale = Math.min(width / columns / TILE.width, height / rows / TILE.height);
      if (scale > best.scale) best = { scale, columns };
    }
    this.boards = innerWidth >= PHONE || best.scale >= LEAST;
    if (innerWidth >= PHONE) best.scale = Math.max(best.scale, LEAST);
    else if (!this.boards) best.columns = count > 12 ? 6 : 3;
    if (best.scale === LEAST) best.columns = Math.floor(width / (LEAST * TILE.width));
    this.grid.classList.toggle('boards', this.boards);
    this.grid.style.setProperty('--columns', best.columns);
    this.grid.style.setProperty('--scale', Math.min(2.2, best.scale).toFixed(3));
  }
}

/** One table. */
class Tile {
  constructor(app, id) {
    this.app = app;
    this.id = id;
    this.el = element('a', 'tile');
    this.el.href = `#/t/${encodeURIComponent(id)}`;
    const head = element('div', 'head', this.el);
    this.number = element('b', 'number', head);
    this.number.textContent = id;
    this.black = element('span', 'reading', head);
    this.holder = element('div', 'holder', this.el);
    const foot = element('div', 'foot', this.el);
    this.move = element('span', 'move', foot);
    this.white = element('span', 'reading', foot);
    this.word = element('div', 'word', this.el);
    this.board = null;
    this.texts = new Map();
  }

  /** What time changes: clocks, ages, and how far the table can be believed. Returns whether anything did. */
  tick(table, worst, at) {
    const { hall, words } = this.app;
    const presence = hall.presence(table, at);
    const clock = hall.clock(table, at, presence);
    const gone = presence.state !== 'live';
    const sign = worst ? SIGNS[worst.severity] : gone ? SIGNS.gone : '';
    const stale = !gone && clock?.stale;
    this.changed = false;
    this.#class(gone, stale, worst);
    for (const side of ['white', 'black']) {
      const shown = clock ? reading(clock[side]) : '';
      const flag = clock?.flags.includes(side) ? '⚑' : '';
      const runs = clock?.running === side;
      if (this.#text(this[side], `${runs ? '▸' : ''}${shown}${flag}`)) this[side].classList.toggle('runs', runs);
    }
    this.#text(this.number, sign ? `${sign}${this.id}` : this.id);
    const what = worst ? words.kind(worst.kind) : '';
    // Where there is no board there is no room for the time either.
    const why = gone ? (this.board ? trouble(presence, words) : words.t(`gone.${presence.why}`, presence)) : '';
    const none = stale && clock.white === null && clock.black === null;
    const age = none ? words.t('clock.none') : stale ? words.t('old', { age: words.age(clock.age) }) : '';
    const word = [what, why, age].filter(Boolean).join(' · ');
    this.#text(this.word, word);
    this.word.hidden = !word;
    return this.changed;
  }

  /** What a message changes: the board and the last move. Returns whether the board is a new one. */
  show(table, boards) {
    const { words } = this.app;
    this.#text(this.move, lastMove(table, words) || this.#phase(table, words));
    if (!boards) return false;
    const fresh = this.board?.game !== table.game;
    const game = table.value('game');
    const position = table.value('position');
    if (fresh) {
      this.board = new Board(table.game, { king: words.t('king.letter') });
      this.holder.replaceChildren(this.board.el);
    }
    this.board.show(pieces(table.game, position?.fen), {
      last: squaresOf(game?.moves?.at(-1)),
      label: words.t('table.label', { table: this.id }),
    });
    return fresh;
  }

  #phase(table, words) {
    const phase = table.value('game')?.phase;
    return phase ? words.t(`phase.${phase}`) : words.t('no_game');
  }

  #class(gone, stale, worst) {
    const wanted = `tile ${gone ? 'gone' : stale ? 'stale' : 'live'} ${worst ? worst.severity : ''} ${worst?.attended ? 'attended' : ''}`;
    if (this.el.className === wanted) return;
    this.el.className = wanted;
    this.changed = true;
  }

  #text(node, text) {
    if (this.texts.get(node) === text) return false;
    this.texts.set(node, text);
    node.textContent = text;
    return (this.changed = true);
  }
}

function element(name, className, parent) {
  const made = document.createElement(name);
  made.className = className;
  parent?.append(made);
  return made;
}
