// Which screen the address names: `#/alerts`, `#/hall`, `#/t/12`, `#/tech`, `#/public`, `#/me`.

import { AlertsView } from './views/alerts.js';
import { HallView } from './views/hall.js';
import { MeView } from './views/me.js';
import { PublicView } from './views/public.js';
import { TableView } from './views/table.js';
import { TechView } from './views/tech.js';

const VIEWS = { alerts: AlertsView, hall: HallView, t: TableView, tech: TechView, public: PublicView, me: MeView };
const WIDE = 900;

export class Router {
  constructor(changed) {
    addEventListener('hashchange', changed);
  }

  get #parts() {
    return decodeURIComponent(location.hash.slice(2)).split('/');
  }

  /** On a phone home is the list, on a wall it is the hall. */
  get name() {
    const name = this.#parts[0];
    return name in VIEWS ? name : innerWidth < WIDE ? 'alerts' : 'hall';
  }

  get view() {
    return VIEWS[this.name];
  }

  get argument() {
    return this.#parts.slice(1).join('/');
  }

  go(...parts) {
    location.hash = `#/${parts.map(encodeURIComponent).join('/')}`;
  }
}
