// Small pieces that several screens share.

import { html, nothing } from '../vendor/lit-html/lit-html.js';
import { reading } from '../time.js';

/** Signs beside every colour; a screen in grey still tells them apart. */
export const SIGNS = { alert: '▲', notice: '●', gone: '✕' };

const FIGURINES = { K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘' };

/** A move as people write it, with figurines instead of letters of some language. */
export function notation(move, game) {
  if (game === 'draughts') return move.notation;
  return move.notation.replace(/[KQRBN]/g, (letter) => FIGURINES[letter] + '\uFE0E');
}

/** `31.` or `31…`, counted as the start position counts. */
export function number(move, game) {
  const [, turn, , , , full] = (game?.start_fen ?? '').split(' ');
  const first = Number(full) || 1;
  const offset = turn === 'b' || game?.start_fen?.startsWith('B:') ? 1 : 0;
  return `${first + Math.floor((move.ply - 1 + offset) / 2)}${move.side === 'black' ? '…' : '.'}`;
}

/** The last move with its mark: `24. Rd1 seen`. */
export function lastMove(table, words) {
  const game = table.value('game');
  const move = game?.moves?.at(-1);
  if (!move) return '';
  const mark = move.legal === false ? words.t('not_legal') : move.confirmed ? '' : words.t('seen');
  return `${number(move, game)} ${notation(move, game.game)}${move.legal === false ? '?' : ''} ${mark}`.trim();
}

/** What is the matter with the table's link, in words; empty if nothing. */
export function trouble(presence, words) {
  if (presence.state === 'live') return '';
  const text = words.t(`gone.${presence.why}`, presence);
  return presence.since === null ? text : `${text} ${words.t('since', { time: words.time(presence.since) })}`;
}

/** The sentence without the table's number, which stands beside it in large figures. */
export function sentence(alert) {
  return alert.message.replace(/^Table [^:]+: /, '');
}

/** Both readings in one line. */
export function readings(clock, words) {
  if (!clock) return nothing;
  const one = (side) => html`<span class=${clock.running === side ? 'runs' : ''}
    >${words.t(side)} ${clock.running === side ? '▸' : ''}${reading(clock[side])}${clock.flags.includes(side) ? ' ⚑' : ''}</span
  >`;
  return html`<span class="readings ${clock.stale ? 'stale' : ''}"
    >${one('white')} ${one('black')}${clock.stale && clock.age !== null
      ? html` <em>${words.t('old', { age: words.age(clock.age) })}</em>`
      : nothing}</span
  >`;
}

/** Players as far as they are known. */
export function names(game, words) {
  const one = (side) => game?.[side] || words.t(side);
  return `${one('white')} – ${one('black')}`;
}

/** The table that a line's key is about; null for a gateway's. */
export function tableOf(hall, key) {
  const link = /^(?:board|clock):(.*)$/.exec(key);
  if (link) return link[1];
  for (const table of hall.tables.values()) {
    if (table.alerts.has(key) || table.closed.some(({ alert }) => alert.alert_id === key)) return table.id;
  }
  return null;
}
