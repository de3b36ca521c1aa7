// Words by key. A language is one JSON file; a test keeps all of them complete.

/** Every language there is, as it calls itself. */
export const LANGUAGES = { en: 'English', nl: 'Nederlands', de: 'Deutsch', fr: 'Français' };

export class Words {
  constructor(language, words, zone) {
    this.language = language;
    this.words = words;
    this.plural = new Intl.PluralRules(language);
    this.clock = new Intl.DateTimeFormat(language, {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hour12: false,
      timeZone: zone || undefined,
    });
    this.t = this.t.bind(this);
  }

  /** The words for `key`; `n` chooses between one and many. */
  t(key, values = {}) {
    const many = 'n' in values ? `${key}.${this.plural.select(values.n)}` : key;
    const text = this.words[many] ?? this.words[`${key}.other`] ?? this.words[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  /** What an irregularity is called in two or three words; a kind that is newer than this page names itself. */
  kind(id) {
    return this.words[`kind.${id}`] ?? id.replaceAll('_', ' ');
  }

  /** A time of day in the hall. */
  time(ms) {
    return this.clock.format(ms);
  }

  /** An age in words: `38 s`, `4 min`, `2 h`. */
  age(ms) {
    const seconds = Math.max(0, Math.round(ms / 1000));
    if (seconds < 100) return this.t('age.s', { count: seconds });
    const minutes = Math.round(seconds / 60);
    return minutes < 100 ? this.t('age.min', { count: minutes }) : this.t('age.h', { count: Math.round(minutes / 60) });
  }
}

/** The language that was chosen here, or the first of the browser's that this hall offers, or the hall's first. */
export function choose(saved, offered) {
  const wanted = [saved, ...navigator.languages].filter(Boolean).map((language) => language.slice(0, 2));
  return wanted.find((language) => offered.includes(language)) ?? offered[0];
}

export async function load(language, zone) {
  const words = await (await fetch(`i18n/${language}.json`)).json();
  document.documentElement.lang = language;
  return new Words(language, words, zone);
}
