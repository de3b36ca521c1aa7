// Which alerts there are, in which order, and how many of one cause become one line. Pure.

import { CLEARED_FOR } from './state.js';

/** Links that are gone for less than this are not worth a line: cables are moved. */
export const GONE_AFTER = 10_000;
const FLOOD_WINDOW = 600_000;
const FLOOD_BEGINS = 10;
const FLOOD_ENDS = 5;
const TOGETHER = 3;

const SEVERITIES = ['alert', 'notice', 'gone'];

/** What comes first among equals: time and result, illegal moves, clocks; then the position, and links last. */
const RANK = [
  'flag_fall|both_flags|play_after|fivefold|seventy_five|threefold|fifty|dead_position|moves$|forced_draw|draw|result|quickplay|game_over',
  'illegal|king_|kings_in|castling|promot|out_of_turn|two_pieces|opponent_piece|capture|crown|majority|men_|touch|taken_back',
  'clock|press|time',
  'piece|board_|position|record|colours|sealed|resumption|adjourn',
].map((pattern) => new RegExp(pattern));

function rank(kind) {
  const found = RANK.findIndex((pattern) => pattern.test(kind));
  return found < 0 ? RANK.length : found;
}

/** One line of the list. */
function item(hall, table, alert) {
  return {
    key: alert.alert_id,
    table: table.id,
    kind: alert.irregularity,
    severity: alert.severity,
    side: alert.side,
    since: hall.ours(table.gateway ?? table.id, Date.parse(alert.since)),
    attended: alert.evidence?.attended_by ?? null,
    alert,
  };
}

/** What the page itself must say, since nobody else can: gateways and boards that are gone. */
function gone(hall, at) {
  const items = [];
  const silent = new Set();
  for (const id of hall.gateways.keys()) {
    const { state, since } = hall.gatewayState(id, at);
    if (state !== 'offline' && state !== 'silent') continue;
    silent.add(id);
    const tables = hall.sorted().filter((table) => table.gateway === id);
    if (tables.length && at - since > GONE_AFTER) {
      const names = tables.map((table) => table.id);
      items.push({ key: `gateway:${id}`, kind: `gateway_${state}`, severity: 'gone', since, gateway: id, tables: names });
    }
  }
  for (const table of hall.tables.values()) {
    const link = table.value('link');
    if (!link || silent.has(link.gateway) || !link.since) continue;
    const since = hall.ours(link.gateway, Date.parse(link.since));
    const clockSince = at - (hall.age(table, 'link', at) ?? 0);
    if (link.board === 'down' && at - since > GONE_AFTER) {
      items.push({ key: `board:${table.id}`, table: table.id, kind: 'board_down', severity: 'gone', since, detail: link.detail });
    } else if (link.clock === 'down' && table.value('game')?.phase === 'play' && at - clockSince > GONE_AFTER) {
      items.push({ key: `clock:${table.id}`, table: table.id, kind: 'clock_down', severity: 'gone', since: clockSince });
    }
  }
  return items;
}

/** Everything open, in order. */
export function open(hall, at) {
  const items = hall.hears(at) ? gone(hall, at) : [];
  for (const table of hall.tables.values()) for (const alert of table.alerts.values()) items.push(item(hall, table, alert));
  return items.sort(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      Number(Boolean(a.attended)) - Number(Boolean(b.attended)) ||
      rank(a.kind) - rank(b.kind) ||
      a.since - b.since ||
      String(a.table).localeCompare(String(b.table), 'en', { numeric: true }),
  );
}

/** What went by itself or was ruled on a moment ago: an arbiter on his way must know why. */
export function closed(hall, at) {
  const items = [];
  for (const table of hall.tables.values()) {
    for (const past of table.closed) {
      if (at - past.at < CLEARED_FOR) items.push({ ...item(hall, table, past.alert), how: past.how, closedAt: past.at });
    }
  }
  return items.sort((a, b) => b.closedAt - a.closedAt);
}

/** Tells whether alerts come faster than people can take them: from 10 new ones in 10 minutes, until 5. */
export class Flood {
  constructor() {
    this.seen = new Map();
    this.on = false;
  }

  judge(items, at) {
    for (const { key, alert } of items) if (alert && !this.seen.has(key)) this.seen.set(key, alert.arrived);
    for (const [key, arrived] of this.seen) if (at - arrived > FLOOD_WINDOW) this.seen.delete(key);
    if (this.seen.size > FLOOD_BEGINS) this.on = true;
    else if (this.seen.size < FLOOD_ENDS) this.on = false;
    return this.on;
  }
}

/** Lines of the list: items as they are, or `{key, kind, severity, since, items}` for several of one cause. */
export function lines(items, flood) {
  const causes = new Map();
  for (const one of items) {
    const cause = `${one.severity}:${one.kind}`;
    causes.set(cause, [...(causes.get(cause) ?? []), one]);
  }
  const least = flood ? 2 : TOGETHER;
  const found = [];
  const told = new Set();
  for (const one of items) {
    const cause = `${one.severity}:${one.kind}`;
    const members = causes.get(cause);
    if (members.length < least) found.push(one);
    else if (!told.has(cause)) {
      told.add(cause);
      const since = Math.min(...members.map((member) => member.since));
      found.push({ key: `group:${cause}`, kind: one.kind, severity: one.severity, since, items: members });
    }
  }
  return found;
}

/** `"1-20, 31"` as a test for a table's number; nothing said is every table. */
export function mine(text) {
  const parts = (text ?? '').split(',').map((part) => part.trim()).filter(Boolean);
  if (!parts.length) return () => true;
  return (table) =>
    parts.some((part) => {
      const [, from, to] = /^(\d+)\s*-\s*(\d+)$/.exec(part) ?? [];
      return from ? Number(table) >= Number(from) && Number(table) <= Number(to) : part === table;
    });
}
