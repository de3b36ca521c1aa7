// One table as it was heard, and what a new list of alerts or moves changes in it. Pure.

/** A retained topic as last heard. */
export class Heard {
  constructor(value, at, stamp, session, lateness) {
    this.value = value;
    this.at = at;
    this.stamp = stamp;
    /** The connection on which it came live; 0: as retained state. */
    this.session = session;
    this.lateness = lateness;
  }
}

export class Table {
  constructor(id) {
    this.id = id;
    /** @type {Record<string, Heard | undefined>} by kind: link, position, clock, game, alerts, board */
    this.heard = {};
    /** alert_id -> the alert, with `arrived`. */
    this.alerts = new Map();
    /** Alerts that are no longer open: `{alert, at, how}`, newest first. */
    this.closed = [];
    /** Plies that were taken back a moment ago: `{move, at}`. */
    this.retracted = [];
    /** Since when the board differs from the game; null: it does not. */
    this.oddSince = null;
    /** What is kept for those who ask: alerts of severity `info` of this game. */
    this.infos = [];
  }

  value(kind) {
    return this.heard[kind]?.value ?? null;
  }

  get gateway() {
    return this.value('link')?.gateway ?? null;
  }

  /** What is played; a position that comes before its game tells it too. */
  get game() {
    return this.value('game')?.game ?? (this.value('position')?.fen?.includes(':') ? 'draughts' : 'chess');
  }
}

export function takeAlerts(table, list, retained, at) {
  const open = new Map((list ?? []).map((alert) => [alert.alert_id, alert]));
  for (const [id, alert] of table.alerts) {
    if (open.has(id)) continue;
    const how = table.ruled?.delete(id) ? 'ruled' : 'cleared';
    table.closed = [{ alert, at, how }, ...table.closed].slice(0, 20);
  }
  for (const [id, alert] of open) {
    const known = table.alerts.get(id);
    alert.arrived = known?.arrived ?? at;
    // What was open before we came is no news: it makes no sound.
    alert.news = known ? known.news : !retained;
  }
  table.alerts = open;
}

/** `since`: when this was observed, on our clock. */
export function takeBoard(table, since) {
  table.oddSince = table.value('board').differs?.length ? (table.oddSince ?? since) : null;
}

export function takeGame(table, before, game, at) {
  if (!before || before.game_id !== game.game_id) {
    table.retracted = [];
    return;
  }
  const gone = before.moves.slice(firstDifference(before.moves, game.moves));
  table.retracted = [...gone.map((move) => ({ move, at })), ...table.retracted].slice(0, 20);
}

function firstDifference(before, after) {
  const same = (a, b) => a && b && a.notation === b.notation && a.ply === b.ply;
  let index = 0;
  while (index < before.length && same(before[index], after[index])) index++;
  return index;
}
