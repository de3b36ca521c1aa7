// Positions as maps from square to piece: FEN letters in chess, w b W B in draughts, ? where the board cannot tell.

const FILES = 'abcdefgh';

function chess(placement) {
  const pieces = new Map();
  placement.split('/').forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= '1' && letter <= '8') file += Number(letter);
      else pieces.set(FILES[file++] + (8 - index), letter);
    }
  });
  return pieces;
}

function draughts(text) {
  const pieces = new Map();
  for (const part of text.split(':')) {
    if (part.length < 2) continue;
    const kind = part[0] === '?' ? '?' : part[0].toLowerCase();
    for (const item of part.slice(1).split(',')) {
      const king = item.startsWith('K');
      if (item) pieces.set(king ? item.slice(1) : item, king ? kind.toUpperCase() : kind);
    }
  }
  return pieces;
}

/** A FEN or a placement of this game; nothing known is an empty board. */
export function pieces(game, text) {
  if (!text) return new Map();
  return game === 'draughts' ? draughts(text) : chess(text.split(' ')[0]);
}

/** The other way round, for `set_position`. */
export function placement(game, position) {
  if (game === 'draughts') {
    const list = (side) =>
      [...position]
        .filter(([, piece]) => piece.toLowerCase() === side)
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([square, piece]) => (piece === piece.toUpperCase() ? `K${square}` : square));
    return `W${list('w')}:B${list('b')}`;
  }
  const rows = [];
  for (let rank = 8; rank >= 1; rank--) {
    let row = '';
    let empty = 0;
    for (const file of FILES) {
      const piece = position.get(file + rank);
      if (!piece) empty++;
      else {
        row += (empty || '') + piece;
        empty = 0;
      }
    }
    rows.push(row + (empty || ''));
  }
  return rows.join('/');
}

/** The squares of a move of the `game` topic: where it came from, where it went. */
export function squaresOf(move) {
  if (move?.squares) return [String(move.squares[0]), String(move.squares.at(-1))];
  return move?.uci ? [move.uci.slice(0, 2), move.uci.slice(2, 4)] : [];
}
