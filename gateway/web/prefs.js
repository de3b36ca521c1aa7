// What this phone remembers. The account is kept for the browser's session only, unless the phone is somebody's own.

const PREFIX = 'hall.';

function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(PREFIX + key));
  } catch {
    return null;
  }
}

function write(storage, key, value) {
  try {
    if (value === null) storage.removeItem(PREFIX + key);
    else storage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}

export const prefs = {
  get: (key) => read(localStorage, key),
  set: (key, value) => write(localStorage, key, value),

  /** The theme is plain text, since it is read before anything else is there. */
  get theme() {
    return document.documentElement.dataset.theme;
  },
  set theme(value) {
    document.documentElement.dataset.theme = value;
    try {
      localStorage.setItem(`${PREFIX}theme`, value);
    } catch {
      // As above.
    }
  },

  get account() {
    return read(sessionStorage, 'account') ?? read(localStorage, 'account');
  },
  keepAccount(account, own) {
    write(sessionStorage, 'account', account);
    write(localStorage, 'account', own ? account : null);
  },
  forgetAccount() {
    write(sessionStorage, 'account', null);
    write(localStorage, 'account', null);
  },
};
