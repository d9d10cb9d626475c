// Apex TXT records that prove the ownership of a domain to a service.
import type { Mint } from '../random.ts';

export interface TokenTemplate {
  readonly id: string;
  readonly weight: number;
  readonly txt: (mint: Mint) => string;
}

const token = (id: string, weight: number, prefix: string, value: (mint: Mint) => string): TokenTemplate => ({
  id,
  weight,
  txt: (mint) => `${prefix}${value(mint)}`,
});
const code = (length: number) => (m: Mint) => m.code('token', length);
const hex = (length: number) => (m: Mint) => m.hex('token', length);

export const tokens: readonly TokenTemplate[] = [
  token('google', 120, 'google-site-verification=', code(43)),
  token('microsoft-365', 90, 'MS=ms', (m) => String(m.number('ms-token', 10000000, 99999999))),
  token('facebook', 60, 'facebook-domain-verification=', (m) => m.code('fb', 30).toLowerCase()),
  token('apple', 40, 'apple-domain-verification=', code(16)),
  token('atlassian', 36, 'atlassian-domain-verification=', code(64)),
  token(
    'docusign',
    28,
    'docusign=',
    (m) => `${m.hex('ds', 8)}-${m.hex('ds2', 4)}-${m.hex('ds3', 4)}-${m.hex('ds4', 4)}-${m.hex('ds5', 12)}`,
  ),
  token('adobe', 26, 'adobe-idp-site-verification=', hex(64)),
  token('stripe', 22, 'stripe-verification=', hex(64)),
  token('onetrust', 20, 'onetrust-domain-verification=', hex(32)),
  token('slack', 18, 'slack-domain-verification=', code(40)),
  token('zoom', 16, 'ZOOM_verify_', code(22)),
  token('dropbox', 14, 'dropbox-domain-verification=', (m) => m.code('dbx', 12).toLowerCase()),
  token(
    'webex',
    12,
    'webexdomainverification.',
    (m) => `${m.code('wbx', 5).toUpperCase()}=${m.hex('wbx', 8)}-${m.hex('wbx2', 4)}`,
  ),
  token('miro', 11, 'miro-verification=', hex(40)),
  token('notion', 10, 'notion-domain-verification=', code(42)),
  token('canva', 9, 'canva-site-verification=', code(22)),
  token('1password', 9, '1password-site-verification=', (m) => m.code('1p', 26).toUpperCase()),
  token('lastpass', 8, 'lastpass-verification-code=', (m) => m.code('lp', 24)),
  token('knowbe4', 8, 'knowbe4-site-verification=', hex(32)),
  token('have-i-been-pwned', 6, 'have-i-been-pwned-verification=', (m) => `dweb_${m.code('hibp', 24).toLowerCase()}`),
];
