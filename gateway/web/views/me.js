// What this phone is told: whose tables, which language, sound, theme, keys.

import { html, nothing, render } from '../vendor/lit-html/lit-html.js';
import { LANGUAGES } from '../i18n.js';
import { possible } from '../wake.js';

export class MeView {
  static place = 'me';

  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  draw() {
    const { words, prefs, settings } = this.app;
    const { t } = words;
    const set = (key) => (event) => {
      prefs.set(key, event.target.type === 'checkbox' ? event.target.checked : event.target.value);
      this.app.touch();
    };
    const by = (event) => {
      prefs.set('initials', event.target.value.trim());
      this.app.commands.by = event.target.value.trim() || null;
    };
    const awake = (event) => {
      prefs.set('awake', event.target.checked);
      this.app.wake.check();
    };
    const theme = (event) => (prefs.theme = event.target.checked ? 'light' : 'dark');
    const check = (label, checked, change) =>
      html`<label class="check"><input type="checkbox" .checked=${checked} @change=${change}>${label}</label>`;
    render(
      html`<h1>${t('me.title')}</h1>
        <label>${t('login.initials')}<input maxlength="12" .value=${prefs.get('initials') ?? ''} @change=${by}></label>
        <label>${t('me.tables')}<input .value=${prefs.get('tables') ?? ''} @change=${set('tables')}></label>
        <p class="why">${t('me.tables_why')}</p>
        <label>${t('me.language')}<select @change=${(event) => this.app.speak(event.target.value)}>${settings.languages.map(
          (language) => html`<option value=${language} ?selected=${language === words.language}>${LANGUAGES[language]}</option>`,
        )}</select></label>
        ${check(t('me.theme'), prefs.theme === 'light', theme)}
        ${check(t('me.sound'), prefs.get('sound') !== false, set('sound'))}
        ${possible() ? check(t('me.awake'), prefs.get('awake') !== false, awake) : html`<p class="why">${t('me.awake_not')}</p>`}
        ${check(t('me.keys'), prefs.get('keys') !== false, set('keys'))}
        <p class="why">${t('me.keys.help')}</p>
        <h2>${t('me.screens')}</h2>
        <div class="row"><a class="button" href="#/hall">${t('me.wall')}</a><a class="button" href="?#/public">${t('me.public')}</a>
          ${settings.docs ? html`<a class="button" href="docs/">${t('me.docs')}</a>` : nothing}</div>
        <div class="row"><button @click=${() => this.app.logout()}>${t('me.logout')}</button></div>
        <p class="why">${t('me.zone', { zone: settings.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone })} · ${settings.version}</p>`,
      this.place,
    );
  }
}
