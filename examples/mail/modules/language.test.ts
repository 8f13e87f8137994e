import { describe, expect, it } from 'vitest';
import { detectLanguage, undetermined } from './language.ts';

describe('detectLanguage', () => {
  it.each([
    ['The meeting is on Monday at nine, please bring the report with you.', 'en'],
    ['Das Treffen ist am Montag um neun, bitte bringen Sie den Bericht mit.', 'de'],
    ['La réunion est lundi à neuf heures, merci d’apporter le rapport.', 'fr'],
    ['요즘 뜨는 직종을 알려 드립니다', 'ko'],
    ['', undetermined],
    ['1234 5678 !!!', undetermined],
  ])('%s', (text, language) => {
    expect(detectLanguage(text)).toBe(language);
  });
});
