import { createVuetify } from 'vuetify';
import { aliases, mdi } from 'vuetify/iconsets/mdi-svg';

const KEY = 'rustcoll-guide-theme';

export type ThemeName = 'light' | 'dark';

/** Storage may be forbidden, for instance to pages opened from files; the choice then lasts as long as the page. */
function chosen(): ThemeName | null {
  try {
    const name = localStorage.getItem(KEY);
    return name === 'light' || name === 'dark' ? name : null;
  } catch {
    return null;
  }
}

export function remember(name: ThemeName): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    return;
  }
}

/** Vuetify's own greys are too faint to be read by everybody. */
const legible = { 'medium-emphasis-opacity': 0.75 };

/** There is room for a message only where one is said. */
const field = { variant: 'outlined', density: 'compact', hideDetails: true };
const option = { density: 'compact', hideDetails: true };

export const vuetify = createVuetify({
  defaults: {
    VAlert: { variant: 'outlined' },
    VBtn: { variant: 'outlined' },
    VCheckbox: option,
    VSelect: field,
    VSlider: { color: 'primary', hideDetails: true },
    VSwitch: { ...option, color: 'primary' },
    VTextField: field,
  },
  icons: { defaultSet: 'mdi', aliases, sets: { mdi } },
  theme: {
    defaultTheme: chosen() ?? 'system',
    themes: {
      light: { colors: { primary: '#1f5fa8', secondary: '#7a4a00' }, variables: legible },
      dark: { colors: { primary: '#8ab8f0', secondary: '#f0b860' }, variables: legible },
    },
  },
});
