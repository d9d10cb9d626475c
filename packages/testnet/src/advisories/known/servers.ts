// Published vulnerabilities of web servers and their components.
import type { VulnerabilityFacts } from '../facts.ts';
import { of } from '../software.ts';
import { inV2, inV4, STOPS, TAKEOVER, vulnerabilityOf, WINDOWS } from './row.ts';

const nginx = vulnerabilityOf('nginx');
const apache = vulnerabilityOf('apache');
const openssl = vulnerabilityOf('openssl');

const HTTP3 = '1.25.0 <1.26.1';
const MP4 = '1.1.3 <1.22.1, 1.23.0 <1.23.2';

export const servers: readonly VulnerabilityFacts[] = [
  nginx('2013-2028', '2013-07-20', 'Stack overflow in chunked transfer', '1.3.9 <=1.4.0', TAKEOVER, { epss: 0.92 }),
  nginx(
    '2017-7529',
    '2017-07-13',
    'Integer overflow in the range filter',
    '0.5.6 <1.13.3',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
    { epss: 0.91 },
  ),
  nginx('2019-9511', '2019-08-13', 'HTTP/2 data dribble', '1.9.5 <1.16.1, 1.17.0 <=1.17.2', STOPS, { epss: 0.13 }),
  nginx(
    '2021-23017',
    '2021-06-01',
    'One byte past the end in the resolver',
    '0.6.18 <1.20.1',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:H/A:H',
    { epss: 0.73 },
  ),
  nginx(
    '2022-41741',
    '2022-10-19',
    'Memory corruption in ngx_http_mp4_module',
    MP4,
    'CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H',
    { epss: 0.01 },
  ),
  nginx(
    '2022-41742',
    '2022-10-19',
    'Memory disclosure in ngx_http_mp4_module',
    MP4,
    'CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:N/A:H',
    { epss: 0.01 },
  ),
  {
    id: 'CVE-2023-44487',
    published: '2023-10-10',
    title: 'HTTP/2 rapid reset',
    vector: STOPS,
    affected: [of('nginx', '1.9.5 <=1.25.2'), of('tomcat', '8.5.0 <=8.5.93', '9.0.0 <=9.0.80', '10.1.0 <=10.1.13')],
    kev: '2023-10-10',
    epss: 0.944,
  },
  nginx(
    '2024-7347',
    '2024-08-14',
    'Buffer over-read in ngx_http_mp4_module',
    '1.5.13 <1.26.2, 1.27.0 <1.27.1',
    'CVSS:3.1/AV:L/AC:H/PR:L/UI:N/S:U/C:N/I:N/A:H',
    { epss: 0.004 },
  ),
  nginx('2024-24989', '2024-02-14', 'Null pointer in HTTP/3', '=1.25.3', STOPS, { epss: 0.006 }),
  nginx('2024-24990', '2024-02-14', 'Use after free in HTTP/3', '1.25.0 <1.25.4', STOPS, { epss: 0.006 }),
  nginx('2024-31079', '2024-05-29', 'Stack overflow in HTTP/3', HTTP3, 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:L/A:L', {
    epss: 0.009,
  }),
  nginx(
    '2024-32760',
    '2024-05-29',
    'Buffer overwrite in HTTP/3',
    HTTP3,
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:L/A:L',
    { epss: 0.007 },
  ),
  nginx(
    '2024-34161',
    '2024-05-29',
    'Memory disclosure in HTTP/3',
    HTTP3,
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
    { epss: 0.005 },
  ),
  nginx('2024-35200', '2024-05-29', 'Null pointer in HTTP/3', HTTP3, 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L', {
    epss: 0.006,
  }),
  nginx(
    '2025-23419',
    '2025-02-05',
    'Client certificates passed over by session resumption',
    '1.11.4 <1.26.3, 1.27.0 <1.27.4',
    'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:N/I:L/A:N',
    { scorings: [inV4('CVSS:4.0/AV:N/AC:L/AT:N/PR:L/UI:N/VC:N/VI:L/VA:N/SC:N/SI:N/SA:N', 5.3)], epss: 0.01 },
  ),
  nginx(
    '2025-53859',
    '2025-08-13',
    'Over-read in ngx_mail_smtp_module',
    '0.7.22 <1.29.1',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:N/A:N',
    {
      nvd: 'awaiting',
      scorings: [inV4('CVSS:4.0/AV:N/AC:H/AT:N/PR:N/UI:N/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N', 6.3)],
      epss: 0.001,
    },
  ),

  apache(
    '2019-0211',
    '2019-04-08',
    'Scoreboard privilege escalation',
    '2.4.17 <=2.4.38',
    'CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H',
    { kev: '2021-11-03', epss: 0.88 },
  ),
  apache(
    '2021-40438',
    '2021-09-16',
    'Server-side request forgery in mod_proxy',
    '<=2.4.48',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:C/C:H/I:H/A:H',
    { kev: '2021-12-01', epss: 0.944 },
  ),
  apache('2021-41773', '2021-10-05', 'Path traversal', '=2.4.49', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', {
    kev: '2021-11-03',
    epss: 0.943,
  }),
  apache('2021-42013', '2021-10-07', 'Path traversal, incomplete fix', '=2.4.49, =2.4.50', TAKEOVER, {
    kev: '2021-11-03',
    epss: 0.944,
  }),
  apache(
    '2021-44224',
    '2021-12-20',
    'Null pointer or request forgery in forward proxies',
    '2.4.7 <=2.4.51',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:L/A:H',
    { epss: 0.11 },
  ),
  apache('2021-44790', '2021-12-20', 'Buffer overflow in mod_lua', '<=2.4.51', TAKEOVER, { epss: 0.77 }),
  apache('2022-22720', '2022-03-14', 'Request smuggling', '<=2.4.52', TAKEOVER, { epss: 0.31 }),
  apache('2022-23943', '2022-03-14', 'Write out of bounds in mod_sed', '2.4.0 <=2.4.52', TAKEOVER, { epss: 0.63 }),
  apache('2022-31813', '2022-06-09', 'X-Forwarded headers dropped hop by hop', '<=2.4.53', TAKEOVER, { epss: 0.003 }),
  apache(
    '2022-36760',
    '2023-01-17',
    'Request smuggling in mod_proxy_ajp',
    '2.4.0 <=2.4.54',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:C/C:H/I:H/A:H',
    { epss: 0.002 },
  ),
  apache('2023-25690', '2023-03-07', 'Request smuggling with RewriteRule and mod_proxy', '2.4.0 <=2.4.55', TAKEOVER, {
    epss: 0.69,
  }),
  apache(
    '2023-27522',
    '2023-03-07',
    'Response splitting in mod_proxy_uwsgi',
    '2.4.30 <=2.4.55',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:H/A:N',
    { epss: 0.005 },
  ),
  apache('2023-31122', '2023-10-23', 'Read out of bounds in mod_macro', '<=2.4.57', STOPS, { epss: 0.01 }),
  apache(
    '2023-45802',
    '2023-10-23',
    'HTTP/2 memory kept after reset',
    '2.4.17 <=2.4.57',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:H',
    { epss: 0.02 },
  ),
  apache('2024-27316', '2024-04-04', 'HTTP/2 continuation frames', '2.4.17 <=2.4.58', STOPS, { epss: 0.89 }),
  apache(
    '2024-38472',
    '2024-07-01',
    'NTLM hashes leak by UNC paths',
    '2.4.0 <=2.4.59',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
    { runsOn: WINDOWS, epss: 0.79 },
  ),
  apache('2024-38474', '2024-07-01', 'Encoded question marks in substitutions', '2.4.0 <=2.4.59', TAKEOVER, {
    epss: 0.02,
  }),
  apache(
    '2024-38475',
    '2024-07-01',
    'Improper escaping in mod_rewrite',
    '2.4.0 <=2.4.59',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N',
    { kev: '2025-05-01', epss: 0.937 },
  ),
  apache(
    '2024-40725',
    '2024-07-18',
    'Source of handlers disclosed',
    '2.4.60 <=2.4.61',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
    { epss: 0.36 },
  ),
  apache(
    '2024-40898',
    '2024-07-18',
    'Request forgery in mod_rewrite',
    '2.4.0 <=2.4.61',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
    { runsOn: WINDOWS, epss: 0.71 },
  ),
  apache('2025-53020', '2025-07-10', 'HTTP/2 memory kept too long', '2.4.17 <=2.4.63', STOPS, {
    nvd: 'awaiting',
    epss: 0.002,
  }),

  openssl('2014-0160', '2014-04-07', 'Heartbleed', '1.0.1 <1.0.1g', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', {
    kev: '2022-05-04',
    scorings: [inV2('AV:N/AC:L/Au:N/C:P/I:N/A:N', 5)],
    epss: 0.945,
    isProse: true,
  }),
  openssl(
    '2021-3449',
    '2021-03-25',
    'Null pointer on renegotiation',
    '1.1.1 <1.1.1k',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:H',
    { epss: 0.05, isProse: true },
  ),
  openssl('2021-3711', '2021-08-24', 'SM2 decryption overflow', '1.1.1 <1.1.1l', TAKEOVER, {
    epss: 0.02,
    isProse: true,
  }),
  openssl(
    '2022-0778',
    '2022-03-15',
    'Endless loop in BN_mod_sqrt',
    '1.0.2 <1.0.2zd, 1.1.1 <1.1.1n, 3.0.0 <3.0.2',
    STOPS,
    { epss: 0.08, isProse: true },
  ),
  openssl('2022-1292', '2022-05-03', 'Commands by c_rehash', '1.0.2 <1.0.2ze, 1.1.1 <1.1.1o, 3.0.0 <3.0.3', TAKEOVER, {
    epss: 0.55,
    isProse: true,
  }),
  openssl('2022-3602', '2022-11-01', 'Punycode overflow by four bytes', '3.0.0 <3.0.7', STOPS, {
    epss: 0.82,
    isProse: true,
  }),
  openssl('2022-4450', '2023-02-08', 'Double free in PEM_read_bio_ex', '1.1.1 <1.1.1t, 3.0.0 <3.0.8', STOPS, {
    epss: 0.002,
  }),
  openssl(
    '2023-0286',
    '2023-02-08',
    'X.400 address type confusion',
    '1.0.2 <1.0.2zg, 1.1.1 <1.1.1t, 3.0.0 <3.0.8',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:H',
    { epss: 0.88 },
  ),
];
