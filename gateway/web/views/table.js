// One table: the game and the board beside each other, what is the matter, the moves, and what the arbiter can do.

import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { Board } from '../board.js';
import { pieces, squaresOf } from '../fen.js';
import { lasting, reading } from '../time.js';
import { Evidence } from './evidence.js';
import { SIGNS, names, notation, number, sentence, trouble } from './words.js';

const STRUCK_FOR = 10_000;
const ACTS = ['rule', 'correct', 'set', 'end', 'more'];
const LAYERS = ['game', 'both', 'board'];

export class TableView {
  static place = 'table';

  constructor(app, place, id) {
    this.app = app;
    this.place = place;
    this.id = id;
    this.follows = `arbiter/${id}/board`;
    this.layer = 'both';
    this.turned = Boolean(app.prefs.get('turned'));
    this.evidence = new Evidence(app);
    this.said = '';
  }

  shows(tables) {
    return tables.has(this.id);
  }

  draw(changes, look) {
    const { hall, words } = this.app;
    const table = hall.tables.get(this.id);
    if (!table) {
      render(html`<p class="empty">${words.t('table.missing', { table: this.id })}</p>`, this.place);
      return;
    }
    const presence = hall.presence(table, look.at);
    const items = look.items.filter((item) => item.table === this.id);
    render(
      html`<div class="title"><h1><span class="number">${this.id}</span> ${names(table.value('game'), words)}</h1>
          ${this.#state(table, presence, look.at)}</div>
        <div class="matters">${items.map((item) => this.#alert(item, table, look))}${this.#differences(table)}</div>
        <div class="left ${presence.state}">
          ${this.#clock(table, 'black', look.at)}
          ${this.#board(table)}
          ${this.#clock(table, 'white', look.at)}
          ${this.#switches()}
        </div>
        <div class="right">
          ${this.#moves(table, look.at)}
          ${this.evidence.infos(table)}
        </div>
        ${this.#acts(look, items)}`,
      this.place,
    );
  }

  key(key) {
    if (key === 'f') this.#turn();
    else if (key === 'c') this.app.frame.sheet.open('rule', this.id);
    else return false;
    return true;
  }

  #state(table, presence, at) {
    const { words, hall } = this.app;
    const game = table.value('game');
    const phase = game ? words.t(`phase.${game.phase}`) : words.t('no_game');
    const result = game?.result ? words.t('result', { result: game.result }) : '';
    if (presence.state !== 'live') return html`<p class="unseen">✕ ${trouble(presence, words)} ${presence.detail ?? ''}</p>`;
    const clock = hall.clock(table, at);
    const news = clock?.stale && clock.age !== null
      ? html`<span class="unseen">${words.t('clock.silent', { age: words.age(clock.age) })}</span>`
      : words.t('live');
    return html`<p>${phase} ${result} · ${news}</p>`;
  }

  #clock(table, side, at) {
    const { words, hall } = this.app;
    const clock = hall.clock(table, at);
    const game = table.value('game');
    const name = game?.[side] || words.t(side);
    if (!clock) return html`<p class="player ${side}"><span>${name}</span> <span>${words.t('clock.none')}</span></p>`;
    const runs = clock.running === side;
    const state = clock.flags.includes(side) ? `⚑ ${words.t('clock.flag')}` : runs ? words.t('clock.runs') : words.t('clock.stopped');
    return html`<p class="player ${side} ${clock.stale ? 'stale' : ''} ${runs ? 'runs' : ''}"><span class="name">${name}</span>
      <span class="word">${clock.stale && clock.age !== null ? words.t('old', { age: words.age(clock.age) }) : state}</span>
      <span class="reading">${runs ? '▸' : ''}${reading(clock[side])}</span></p>`;
  }

  #board(table) {
    const { words } = this.app;
    if (this.board?.game !== table.game) {
      this.board = new Board(table.game, { numbers: true, king: words.t('king.letter') });
    }
    const fen = table.value('position')?.fen;
    const stands = table.value('board');
    const game = pieces(table.game, fen);
    const physical = stands ? pieces(table.game, stands.physical) : null;
    const board = this.layer === 'board' && physical;
    const shown = board ? physical : game;
    this.board.show(shown, {
      last: this.layer === 'board' ? [] : squaresOf(table.value('game')?.moves?.at(-1)),
      physical,
      differs: this.layer === 'both' ? (stands?.differs ?? []) : [],
      turned: this.turned,
      label: this.#position(shown, table.game),
    });
    return this.board.el;
  }

  /** The position in words, for those who hear it. */
  #position(shown, game) {
    const { t } = this.app.words;
    if (!shown.size) return t('position.empty');
    return [...shown].map(([square, piece]) => `${pieceName(piece, game, t)} ${square}`).join(', ');
  }

  #switches() {
    const { t } = this.app.words;
    const choose = (layer) => {
      this.layer = layer;
      this.app.touch();
    };
    return html`<div class="row switches" role="group" aria-label=${t('show.both')}>${LAYERS.map((layer) => html`<button
        aria-pressed=${this.layer === layer} @click=${() => choose(layer)}>${t(`show.${layer}`)}</button>`)}
      <button @click=${() => this.#turn()}>${t('turn')}</button></div>`;
  }

  #turn() {
    this.turned = !this.turned;
    this.app.prefs.set('turned', this.turned);
    this.app.touch();
  }

  #alert(item, table, look) {
    const { words } = this.app;
    return html`<section class="line ${item.severity}">
      <div class="what"><span class="sign" role="img" aria-label=${words.t(`sign.${item.severity}`)}>${SIGNS[item.severity]}</span>
        <span class="name"><span class="kind">${words.kind(item.kind)}</span> ${item.side ? words.t(item.side) : nothing}</span>
        <span class="since">${lasting(look.until - item.since)}</span></div>
      ${item.alert ? html`<p class="says">${sentence(item.alert)}</p>` : nothing}
      ${item.attended ? html`<p class="who">${words.t('attended', { who: item.attended })}</p>` : nothing}
      ${item.alert ? this.evidence.of(item) : nothing}
    </section>`;
  }

  /** What the double rings say, in words. */
  #differences(table) {
    const { t } = this.app.words;
    const stands = table.value('board');
    const fen = table.value('position')?.fen;
    if (!stands?.differs?.length || !fen) return nothing;
    const game = pieces(table.game, fen);
    const physical = pieces(table.game, stands.physical);
    const name = (piece) => (piece ? pieceName(piece, table.game, t) : t('nothing'));
    const squares = stands.differs.map(String).map((square) =>
      t('differs.square', { square, board: name(physical.get(square)), game: name(game.get(square)) }),
    );
    return html`<p class="differs">◎ ${squares.join('; ')}.</p>`;
  }

  #moves(table, at) {
    const { words } = this.app;
    const { t } = words;
    const game = table.value('game');
    if (!game?.moves.length) return html`<p class="moves">${t('moves.none')}</p>`;
    const last = game.moves.at(-1);
    const struck = table.retracted.filter((gone) => at - gone.at < STRUCK_FOR);
    const history = table.retracted.filter((gone) => at - gone.at >= STRUCK_FOR);
    const written = (move) => `${number(move, game)} ${notation(move, game.game)}`;
    return html`<section class="moves"><h2>${t('moves.label')}</h2>
      <p class="quiet" aria-live="polite">${t('moves.latest', { move: `${number(last, game)} ${last.notation}` })}</p>
      <ol>${pairs(game).map((pair) => html`<li>${pair.map((move) => this.#move(move, game))}</li>`)}
      ${struck.length ? html`<li>${struck.map(({ move }) => html`<del>${written(move)}</del> `)} <em>${t('taken_back')}</em></li>` : nothing}</ol>
      ${history.length ? html`<p class="facts">${t('history', { moves: history.map(({ move }) => written(move)).join(', ') })}</p>` : nothing}
    </section>`;
  }

  #move(move, game) {
    const { t } = this.app.words;
    const illegal = move.legal === false;
    const mark = illegal ? t('not_legal') : move.confirmed ? '' : t('seen');
    const path = move.squares?.length > 2 ? ` (${move.squares.join('-')})` : '';
    const clock = move.clock ? reading(move.clock[move.side]) : '';
    return html`<span class="move ${illegal ? 'illegal' : ''} ${move.confirmed ? '' : 'seen'}">${number(move, game)} <b>${notation(
      move,
      game.game,
    )}${illegal ? '?' : ''}</b>${path} ${mark ? html`<em>${mark}</em>` : nothing} <small>${clock}</small></span>`;
  }

  #acts(look, items) {
    const { t } = this.app.words;
    const any = items.some((item) => item.alert);
    return html`<div class="acts" role="group" aria-label=${t('acts.label')}>${ACTS.map((act) => html`<button
      ?disabled=${!look.hears || (act === 'rule' && !any)} class=${act === 'rule' && any ? 'strong' : ''}
      @click=${() => this.app.frame.sheet.open(act, this.id)}>${t(`act.${act}`)}</button>`)}
      ${look.hears ? nothing : html`<p class="unseen">${t('sheet.offline')}</p>`}</div>`;
  }
}

function pieceName(piece, game, t) {
  const key = game === 'draughts' ? `man.${piece}` : `piece.${piece}`;
  const name = t(key);
  return name === key ? t('piece.unknown') : name;
}

/** Moves two by two as on a score sheet; whoever moves first. */
function pairs(game) {
  const rows = [];
  for (const move of game.moves) {
    const row = rows.at(-1);
    if (move.side === 'black' && row?.length === 1 && row[0].side === 'white') row.push(move);
    else rows.push([move]);
  }
  return rows;
}
