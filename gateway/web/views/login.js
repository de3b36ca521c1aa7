// The login. Its tap also arms the sound, which browsers allow only after one.

import { html, nothing, render } from '../vendor/lit-html/lit-html.js';

export class Login {
  static place = 'login';

  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  draw() {
    const { words, link, prefs, settings } = this.app;
    const { t } = words;
    const account = prefs.account;
    render(
      html`<form class="login" @submit=${(event) => this.#submit(event)}>
        <h1>${t('login.title')}</h1>
        ${link.state === 'refused' ? html`<p class="problem" role="alert">✕ ${t('login.refused')}</p>` : nothing}
        <label>${t('login.initials')}<input name="initials" maxlength="12" autocomplete="off" .value=${prefs.get('initials') ?? ''}></label>
        <p class="why">${t('login.initials_why')}</p>
        <label>${t('login.account')}<input name="user" autocomplete="username" autocapitalize="none" .value=${account?.user ?? ''}></label>
        <label>${t('login.password')}<input name="password" type="password" autocomplete="current-password"></label>
        <label class="check"><input name="own" type="checkbox">${t('login.own')}</label>
        ${isSecureContext && location.protocol === 'https:' ? nothing : html`<p class="why">${t('login.plain')}</p>`}
        <button class="strong">${t('login.start')}</button>
        <p class="row languages">${settings.languages.map((language) => html`<button type="button" lang=${language}
          aria-pressed=${language === words.language} @click=${() => this.app.speak(language)}>${language}</button>`)}</p>
      </form>`,
      this.place,
    );
  }

  #submit(event) {
    event.preventDefault();
    const form = new FormData(event.target);
    const account = { user: form.get('user').trim(), password: form.get('password') };
    this.app.login(account, form.get('own') === 'on', form.get('initials').trim());
  }
}
