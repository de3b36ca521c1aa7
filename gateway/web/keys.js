// Single keys, for a desk. They can be turned off, and do nothing while somebody types.

const SCREENS = { w: 'hall', l: 'alerts', t: 'tech' };

export class Keys {
  constructor(app) {
    this.app = app;
    addEventListener('keydown', (event) => this.#press(event));
  }

  #press(event) {
    const { app } = this;
    if (event.key === 'Escape' && !document.querySelector('dialog[open]') && app.router.name === 't') history.back();
    if (app.prefs.get('keys') === false || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector('dialog[open]') || event.target.closest('input, textarea, select')) return;
    if (this.#act(event.key)) event.preventDefault();
  }

  #act(key) {
    const { app } = this;
    if (key in SCREENS) app.router.go(SCREENS[key]);
    else if (key === '?') app.router.go('me');
    else if (key === '/' || /^\d$/.test(key)) app.frame.askTable(key === '/' ? '' : key);
    else if (key === 'j' || key === 'k') this.#step(key === 'j' ? 1 : -1);
    else return Boolean(app.frame.view?.key?.(key));
    return true;
  }

  /** To the next or the last row, wherever the focus is. */
  #step(by) {
    const rows = [...document.querySelectorAll('main [data-key]')];
    const at = rows.indexOf(document.activeElement?.closest('[data-key]'));
    rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
  }
}
