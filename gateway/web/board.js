// One SVG board for both games. It remembers what stands on each square and touches only what changed, so that a move
// costs two nodes and sixty boards fit into one frame.

const SVG = 'http://www.w3.org/2000/svg';
const FILES = 'abcdefghij';

function node(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  parent?.append(element);
  return element;
}

/** Column and row from the top left, as White sees the board. Draughts: 1 to 50, light squares by column and row. */
function cell(draughts, square) {
  if (draughts && /^\d+$/.test(square)) {
    const index = Number(square) - 1;
    const row = Math.floor(index / 5);
    return [2 * (index % 5) + (row % 2 ? 0 : 1), row];
  }
  return [FILES.indexOf(square[0]), (draughts ? 10 : 8) - Number(square.slice(1))];
}

/** The square of a cell; the other way round. */
function named(draughts, column, row) {
  if (draughts && (column + row) % 2) return String(row * 5 + Math.floor(column / 2) + 1);
  return FILES[column] + ((draughts ? 10 : 8) - row);
}

export class Board {
  /**
   * @param game what is played
   * @param options `numbers`: name the squares; `king`: the letter of a draughts king; `onSquare`: told of each tap
   */
  constructor(game, { numbers = false, king = 'K', onSquare } = {}) {
    this.game = game;
    this.draughts = game === 'draughts';
    this.size = this.draughts ? 10 : 8;
    this.king = king;
    this.turned = false;
    this.drawn = new Map();
    this.marked = '';
    this.el = node('svg', { viewBox: `0 0 ${this.size * 10} ${this.size * 10}`, role: 'img', class: 'board' });
    node('rect', { width: this.size * 10, height: this.size * 10, class: 'light' }, this.el);
    node('path', { d: this.#darkSquares(), class: 'dark' }, this.el);
    this.below = node('g', {}, this.el);
    this.names = node('g', { class: 'names', 'aria-hidden': 'true' }, this.el);
    this.layer = node('g', {}, this.el);
    this.above = node('g', {}, this.el);
    this.numbers = numbers;
    if (numbers) this.#nameSquares();
    if (onSquare) this.el.addEventListener('click', (event) => onSquare(this.#squareAt(event)));
  }

  /**
   * Show a position.
   *
   * @param position square -> piece of the game
   * @param options `last`: squares of the last move; `physical` and `differs`: what stands on the board, and where that
   *   is not the game: there the board's piece is dashed, the game's piece crossed, and the square has a double ring
   */
  show(position, { last = [], physical = null, differs = [], turned = false, label = '' } = {}) {
    if (turned !== this.turned) {
      this.turned = turned;
      for (const drawn of this.drawn.values()) drawn.node.remove();
      this.drawn.clear();
      this.marked = '';
      if (this.numbers) this.#nameSquares();
    }
    const odd = new Set(differs.map(String));
    for (const [square, drawn] of this.drawn) if (!position.has(square)) this.#take(square, drawn);
    for (const [square, piece] of position) {
      const drawn = this.drawn.get(square);
      if (drawn?.piece === piece) continue;
      if (drawn) this.#take(square, drawn);
      this.drawn.set(square, { piece, node: this.#piece(square, piece, this.layer) });
    }
    const marks = JSON.stringify([last, [...odd].map((square) => [square, physical?.get(square), position.get(square)])]);
    if (marks !== this.marked) {
      this.marked = marks;
      this.#mark(last, odd, physical, position);
    }
    if (label !== this.label) this.el.setAttribute('aria-label', (this.label = label));
  }

  #take(square, drawn) {
    drawn.node.remove();
    this.drawn.delete(square);
  }

  #at(square) {
    const [column, row] = cell(this.draughts, square);
    const last = this.size - 1;
    return this.turned ? [10 * (last - column), 10 * (last - row)] : [10 * column, 10 * row];
  }

  #squareAt(event) {
    const box = this.el.getBoundingClientRect();
    const step = (part, whole) => Math.min(this.size - 1, Math.max(0, Math.floor((part / whole) * this.size)));
    const column = step(event.clientX - box.left, box.width);
    const row = step(event.clientY - box.top, box.height);
    const last = this.size - 1;
    return this.turned ? named(this.draughts, last - column, last - row) : named(this.draughts, column, row);
  }

  #piece(square, piece, parent) {
    const [x, y] = this.#at(square);
    if (this.draughts && /[wbWB]/.test(piece)) return this.#man(x, y, piece, parent);
    if (!this.draughts && /[a-z]/i.test(piece) && !/[xyz]/i.test(piece)) {
      const file = (piece === piece.toUpperCase() ? 'w' : 'b') + piece.toLowerCase();
      return node('image', { href: `vendor/pieces/${file}.svg`, x, y, width: 10, height: 10 }, parent);
    }
    const unknown = node('g', { class: 'unknown' }, parent);
    node('circle', { cx: x + 5, cy: y + 5, r: 3.4 }, unknown);
    node('text', { x: x + 5, y: y + 6.9 }, unknown).textContent = piece;
    return unknown;
  }

  #man(x, y, piece, parent) {
    const white = piece.toLowerCase() === 'w';
    const group = node('g', { class: white ? 'man white' : 'man black' }, parent);
    node('circle', { cx: x + 5, cy: y + 5, r: 3.8 }, group);
    if (piece === piece.toUpperCase()) {
      // A king is told by a second ring and by its letter: rings alone are lost on a small tile.
      node('circle', { cx: x + 5, cy: y + 5, r: 2.7 }, group);
      node('text', { x: x + 5, y: y + 6.5 }, group).textContent = this.king;
    }
    return group;
  }

  #mark(last, odd, physical, position) {
    this.below.replaceChildren();
    this.above.replaceChildren();
    for (const square of last) {
      const [x, y] = this.#at(square);
      node('rect', { x, y, width: 10, height: 10, class: 'last' }, this.below);
    }
    for (const square of odd) {
      const [x, y] = this.#at(square);
      const stands = physical?.get(square);
      if (position.has(square)) node('path', { d: `M${x + 1} ${y + 1}l8 8m0-8l-8 8`, class: 'crossed' }, this.above);
      if (stands) {
        const ghost = node('g', { class: 'ghost' }, this.above);
        this.#piece(square, stands, ghost);
        node('rect', { x: x + 0.8, y: y + 0.8, width: 8.4, height: 8.4, class: 'dashed' }, ghost);
      }
      for (const r of [4.9, 4.1]) node('circle', { cx: x + 5, cy: y + 5, r, class: 'ring' }, this.above);
    }
  }

  #darkSquares() {
    let path = '';
    for (let row = 0; row < this.size; row++) {
      for (let column = 1 - (row % 2); column < this.size; column += 2) path += `M${column * 10} ${row * 10}h10v10h-10z`;
    }
    return path;
  }

  #nameSquares() {
    this.names.replaceChildren();
    for (let row = 0; row < this.size; row++) {
      for (let column = 0; column < this.size; column++) {
        const square = named(this.draughts, column, row);
        const [x, y] = this.#at(square);
        if (this.draughts && (column + row) % 2) {
          node('text', { x: x + 0.3, y: y + 1.9 }, this.names).textContent = square;
        } else if (!this.draughts && y === 70) {
          node('text', { x: x + 8.2, y: y + 9.5 }, this.names).textContent = square[0];
        }
        if (!this.draughts && x === 0) node('text', { x: 0.4, y: y + 2.4 }, this.names).textContent = square[1];
      }
    }
  }
}
