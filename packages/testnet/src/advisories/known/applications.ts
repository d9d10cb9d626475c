// Published vulnerabilities of languages, frameworks and content systems.
import type { VulnerabilityFacts } from '../facts.ts';
import { inV2, READS, SCRIPTS, STOPS, TAKEOVER, vulnerabilityOf, WINDOWS } from './row.ts';

const WRITES_A_LITTLE = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:L/A:N';

const php = vulnerabilityOf('php');
const wordpress = vulnerabilityOf('wordpress');
const drupal = vulnerabilityOf('drupal');
const joomla = vulnerabilityOf('joomla');
const ghost = vulnerabilityOf('ghost');
const next = vulnerabilityOf('next');

const PHP_2024_JUNE = '8.1.0 <8.1.29, 8.2.0 <8.2.20, 8.3.0 <8.3.8';
const WORDPRESS_632 = '5.9.0 <5.9.8, 6.0.0 <6.0.6, 6.1.0 <6.1.4, 6.2.0 <6.2.3, 6.3.0 <6.3.2';

export const applications: readonly VulnerabilityFacts[] = [
  php(
    '2019-11043',
    '2019-10-28',
    'Underflow in php-fpm behind nginx',
    '7.1.0 <7.1.33, 7.2.0 <7.2.24, 7.3.0 <7.3.11',
    TAKEOVER,
    { kev: '2022-03-25', scorings: [inV2('AV:N/AC:L/Au:N/C:P/I:P/A:P', 7.5)], epss: 0.941 },
  ),
  php(
    '2022-31625',
    '2022-06-16',
    'Freed memory in pg_query_params',
    '7.4.0 <7.4.30, 8.0.0 <8.0.20, 8.1.0 <8.1.7',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H',
    { epss: 0.03 },
  ),
  php(
    '2022-31626',
    '2022-06-16',
    'Overflow in mysqlnd',
    '7.4.0 <7.4.30, 8.0.0 <8.0.20, 8.1.0 <8.1.7',
    'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H',
    { epss: 0.34 },
  ),
  php(
    '2023-0568',
    '2023-02-16',
    'One byte short in path resolution',
    '8.0.0 <8.0.28, 8.1.0 <8.1.16, 8.2.0 <8.2.3',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H',
    { epss: 0.002 },
  ),
  php('2023-3823', '2023-08-11', 'External entities in libxml', '8.0.0 <8.0.30, 8.1.0 <8.1.22, 8.2.0 <8.2.8', READS, {
    epss: 0.005,
  }),
  php(
    '2023-3824',
    '2023-08-11',
    'Overflow in phar directories',
    '8.0.0 <8.0.30, 8.1.0 <8.1.22, 8.2.0 <8.2.8',
    TAKEOVER,
    { epss: 0.13 },
  ),
  php(
    '2024-1874',
    '2024-04-29',
    'Commands by batch files in proc_open',
    '8.1.0 <8.1.28, 8.2.0 <8.2.18, 8.3.0 <8.3.5',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:L',
    { runsOn: WINDOWS, epss: 0.57 },
  ),
  php(
    '2024-2756',
    '2024-04-29',
    '__Host- cookies by a fixed bypass',
    '8.1.0 <8.1.28, 8.2.0 <8.2.18, 8.3.0 <8.3.5',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:N/I:H/A:N',
    { epss: 0.07 },
  ),
  php('2024-4577', '2024-06-09', 'Argument injection in PHP-CGI', PHP_2024_JUNE, TAKEOVER, {
    runsOn: WINDOWS,
    otherwise: 'affected',
    kev: '2024-06-12',
    epss: 0.944,
    ghsa: 'GHSA-3qgc-jrrr-25jv',
  }),
  php('2024-5458', '2024-06-09', 'Invalid addresses pass filter_var', PHP_2024_JUNE, WRITES_A_LITTLE, { epss: 0.02 }),
  php(
    '2024-8927',
    '2024-10-08',
    'cgi.force_redirect passed over',
    '8.1.0 <8.1.30, 8.2.0 <8.2.24, 8.3.0 <8.3.12',
    READS,
    { epss: 0.01 },
  ),
  php('2024-11236', '2024-11-24', 'Overflow in ldap_escape', '8.1.0 <8.1.31, 8.2.0 <8.2.26, 8.3.0 <8.3.14', TAKEOVER, {
    epss: 0.007,
  }),
  php(
    '2025-1220',
    '2025-07-13',
    'Null bytes in host names',
    '8.1.0 <8.1.33, 8.2.0 <8.2.29, 8.3.0 <8.3.23, 8.4.0 <8.4.10',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:N/A:N',
    { nvd: 'awaiting', epss: 0.001 },
  ),

  wordpress(
    '2017-1001000',
    '2017-04-03',
    'Posts changed through the REST API',
    '4.7.0 <4.7.2',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:H/A:N',
    { epss: 0.86 },
  ),
  wordpress('2022-21661', '2022-01-06', 'SQL injection through WP_Query', '3.7 <5.8.3', READS, { epss: 0.94 }),
  wordpress(
    '2023-2745',
    '2023-05-17',
    'Path traversal by wp_lang',
    '6.0.0 <6.0.4, 6.1.0 <6.1.2, 6.2.0 <6.2.1',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N',
    { epss: 0.55 },
  ),
  wordpress(
    '2023-5561',
    '2023-10-16',
    'Addresses of users through the REST API',
    WORDPRESS_632,
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
    { epss: 0.46 },
  ),
  wordpress('2023-38000', '2023-10-13', 'Stored scripts in the navigation block', WORDPRESS_632, SCRIPTS, {
    epss: 0.004,
  }),
  wordpress(
    '2023-39999',
    '2023-10-13',
    'Private comments shown',
    WORDPRESS_632,
    'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:L/I:N/A:N',
    { epss: 0.003 },
  ),
  wordpress(
    '2024-31210',
    '2024-04-04',
    'Uploads kept by the plugin installer',
    '6.0.0 <6.0.7, 6.1.0 <6.1.5, 6.2.0 <6.2.4, 6.3.0 <6.3.3, 6.4.0 <6.4.3',
    'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H',
    { epss: 0.02 },
  ),
  wordpress(
    '2024-4439',
    '2024-05-03',
    'Stored scripts in the avatar block',
    '6.0.0 <6.0.8, 6.1.0 <6.1.6, 6.2.0 <6.2.5, 6.3.0 <6.3.4, 6.4.0 <6.4.4, 6.5.0 <6.5.2',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:L/I:L/A:N',
    { epss: 0.91 },
  ),
  wordpress(
    '2024-31111',
    '2024-06-25',
    'Stored scripts in the template part block',
    '5.9.0 <5.9.10, 6.0.0 <6.0.9, 6.1.0 <6.1.7, 6.2.0 <6.2.6, 6.3.0 <6.3.5, 6.4.0 <6.4.5, 6.5.0 <6.5.5',
    SCRIPTS,
    { epss: 0.004 },
  ),

  drupal(
    '2018-7600',
    '2018-03-29',
    'Commands through form rendering',
    '7.0.0 <7.58, 8.0.0 <8.3.9, 8.4.0 <8.4.6, 8.5.0 <8.5.1',
    TAKEOVER,
    { kev: '2021-11-03', epss: 0.944, ghsa: 'GHSA-7fh9-933g-885p' },
  ),
  drupal(
    '2019-6340',
    '2019-02-21',
    'Code through REST fields',
    '8.5.0 <8.5.11, 8.6.0 <8.6.10',
    'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H',
    { kev: '2022-03-25', epss: 0.944 },
  ),
  drupal(
    '2020-13671',
    '2020-11-20',
    'Uploads with two extensions',
    '7.0.0 <7.74, 8.8.0 <8.8.11, 8.9.0 <8.9.9, 9.0.0 <9.0.8',
    'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H',
    { kev: '2022-01-18', epss: 0.05 },
  ),
  drupal(
    '2022-25277',
    '2023-04-26',
    '.htaccess uploads',
    '8.0.0 <9.3.19, 9.4.0 <9.4.3',
    'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H',
    { epss: 0.01 },
  ),
  drupal(
    '2024-55638',
    '2024-12-10',
    'Objects from unserialised data',
    '7.0 <7.102, 8.0.0 <10.2.11, 10.3.0 <10.3.9',
    TAKEOVER,
    { epss: 0.02 },
  ),

  joomla('2015-8562', '2015-12-16', 'Code through session data', '1.5.0 <=3.4.5', TAKEOVER, { epss: 0.93 }),
  joomla('2017-8917', '2017-05-17', 'SQL injection in com_fields', '=3.7.0', TAKEOVER, { epss: 0.943 }),
  joomla(
    '2023-23752',
    '2023-02-16',
    'Web service endpoints open',
    '4.0.0 <4.2.8',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
    { kev: '2024-01-08', epss: 0.945 },
  ),

  ghost('2023-32235', '2023-05-05', 'Files of the theme folder by traversal', '<5.42.1', READS, {
    epss: 0.91,
    ghsa: 'GHSA-wf7x-fh6w-34r6',
  }),
  ghost(
    '2023-40028',
    '2023-08-15',
    'Any file by symlinks in imports',
    '<5.59.1',
    'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:N/A:N',
    { epss: 0.53, ghsa: 'GHSA-9c9v-w225-v5rg' },
  ),
  ghost(
    '2022-41654',
    '2022-12-22',
    'Newsletter settings changed by members',
    '4.46.0 <4.48.8, 5.0.0 <5.22.7',
    'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:L/I:L/A:N',
    { epss: 0.006, ghsa: 'GHSA-9gh8-wp53-ccc6' },
  ),
  ghost('2024-23724', '2024-02-11', 'Stored scripts in profile pictures', '<=5.76.0', SCRIPTS, { epss: 0.53 }),

  next('2024-34351', '2024-05-14', 'Request forgery in server actions', '13.4.0 <14.1.1', READS, {
    epss: 0.92,
    ghsa: 'GHSA-fr5h-rqp8-mj6g',
  }),
  next('2024-46982', '2024-09-17', 'Cache poisoning', '13.5.1 <13.5.7, 14.0.0 <14.2.10', STOPS, {
    epss: 0.69,
    ghsa: 'GHSA-gp8f-8m3g-qvj9',
  }),
  next('2024-51479', '2024-12-17', 'Authorisation passed over by path', '9.5.5 <14.2.15', READS, {
    epss: 0.71,
    ghsa: 'GHSA-7gfc-8cq8-jh5f',
  }),
  next(
    '2025-29927',
    '2025-03-21',
    'Middleware passed over by a header',
    '11.1.4 <12.3.5, 13.0.0 <13.5.9, 14.0.0 <14.2.25, 15.0.0 <15.2.3',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:N',
    { epss: 0.929, ghsa: 'GHSA-f82v-jwr5-mffw' },
  ),
  next(
    'GHSA-9qr9-h5gf-34mp',
    '2025-12-03',
    'Code through the React flight protocol',
    '15.0.0 <15.0.5, 15.1.0 <15.1.9, 15.2.0 <15.2.6, 15.3.0 <15.3.6, 15.4.0 <15.4.8, 15.5.0 <15.5.7, 16.0.0 <16.0.7',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H',
  ),
  next(
    'GHSA-mwv6-3258-q52c',
    '2025-12-11',
    'Server components stop answering',
    '13.3.0 <14.2.34, 15.0.0 <15.0.6, 16.0.0 <16.0.9',
    STOPS,
  ),
  next(
    'GHSA-w37m-7fhw-fmv9',
    '2025-12-11',
    'Source of server actions shown',
    '15.0.0 <15.0.6, 16.0.0 <16.0.9',
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N',
  ),
];
