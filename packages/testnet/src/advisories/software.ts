// Software with vulnerabilities, under every publisher's name for it.
import type { AffectedProduct } from './facts.ts';

type Software = Omit<AffectedProduct, 'versions'>;

const packaged = (
  ecosystem: 'npm' | 'Packagist' | 'PyPI' | 'RubyGems',
  name: string,
  rest: Omit<Software, 'package'>,
): Software => ({ ...rest, package: { ecosystem, name } });

export const software = {
  nginx: { cpe: 'f5:nginx', vendor: 'F5', product: 'NGINX Open Source' },
  nginxPlus: { cpe: 'f5:nginx_plus', vendor: 'F5', product: 'NGINX Plus' },
  apache: { cpe: 'apache:http_server', vendor: 'Apache Software Foundation', product: 'Apache HTTP Server' },
  php: { cpe: 'php:php', vendor: 'PHP Group', product: 'PHP' },
  openssl: { cpe: 'openssl:openssl', vendor: 'OpenSSL', product: 'OpenSSL' },
  wordpress: { cpe: 'wordpress:wordpress', vendor: 'WordPress Foundation', product: 'WordPress' },
  joomla: { cpe: 'joomla:joomla\\!', vendor: 'Joomla! Project', product: 'Joomla! CMS' },
  iis: {
    cpe: 'microsoft:internet_information_services',
    vendor: 'Microsoft',
    product: 'Internet Information Services',
  },
  aspNetCore: { cpe: 'microsoft:asp.net_core', vendor: 'Microsoft', product: 'ASP.NET Core' },
  dotnetFramework: { cpe: 'microsoft:.net_framework', vendor: 'Microsoft', product: 'Microsoft .NET Framework' },
  windowsServer2022: {
    cpe: 'microsoft:windows_server_2022',
    part: 'o',
    vendor: 'Microsoft',
    product: 'Windows Server 2022',
  },
  openLiteSpeed: {
    cpe: 'litespeedtech:openlitespeed',
    vendor: 'LiteSpeed Technologies',
    product: 'OpenLiteSpeed Web Server',
  },
  liteSpeed: {
    cpe: 'litespeedtech:litespeed_web_server',
    vendor: 'LiteSpeed Technologies',
    product: 'LiteSpeed Web Server',
  },
  drupal: packaged('Packagist', 'drupal/core', { cpe: 'drupal:drupal', vendor: 'Drupal', product: 'Drupal Core' }),
  ghost: packaged('npm', 'ghost', { cpe: 'ghost:ghost', vendor: 'TryGhost', product: 'Ghost' }),
  next: packaged('npm', 'next', { cpe: 'vercel:next.js', vendor: 'vercel', product: 'next.js' }),
  reactServerDom: packaged('npm', 'react-server-dom-webpack', {
    cpe: 'facebook:react',
    vendor: 'Meta',
    product: 'react-server-dom-webpack',
  }),
  jquery: packaged('npm', 'jquery', { cpe: 'jquery:jquery', vendor: 'jquery', product: 'jQuery' }),
  express: packaged('npm', 'express', { cpe: 'openjsf:express', vendor: 'expressjs', product: 'express' }),
  django: packaged('PyPI', 'django', { cpe: 'djangoproject:django', vendor: 'Django', product: 'Django' }),
  rack: packaged('RubyGems', 'rack', { cpe: 'rack:rack', vendor: 'rack', product: 'rack' }),
  laravel: packaged('Packagist', 'laravel/framework', {
    cpe: 'laravel:framework',
    vendor: 'laravel',
    product: 'framework',
  }),
  craft: packaged('Packagist', 'craftcms/cms', { cpe: 'craftcms:craft_cms', vendor: 'craftcms', product: 'cms' }),
  magento: { cpe: 'adobe:commerce', vendor: 'Adobe', product: 'Adobe Commerce' },
  tomcat: { cpe: 'apache:tomcat', vendor: 'Apache Software Foundation', product: 'Apache Tomcat' },
  log4j: { cpe: 'apache:log4j', vendor: 'Apache Software Foundation', product: 'Apache Log4j2' },
  openssh: { cpe: 'openbsd:openssh', vendor: 'OpenBSD', product: 'OpenSSH' },
  moveit: { cpe: 'progress:moveit_transfer', vendor: 'Progress', product: 'MOVEit Transfer' },
  confluence: {
    cpe: 'atlassian:confluence_data_center',
    vendor: 'Atlassian',
    product: 'Confluence Data Center',
  },
  archer: { cpe: 'tp-link:archer_ax21_firmware', part: 'o', vendor: 'TP-Link', product: 'Archer AX21' },
  citrix: {
    cpe: 'citrix:netscaler_application_delivery_controller',
    vendor: 'Citrix',
    product: 'NetScaler ADC',
  },
} satisfies Record<string, Software>;

export type SoftwareName = keyof typeof software;

/** `'2.4.0 <2.4.59'`, `'<=2.4.57'`, `'=2.4.49'`, `'8.1.0 <8.1.29'` as intervals of a product. */
export function of(name: SoftwareName, ...ranges: readonly string[]): AffectedProduct {
  return { ...software[name], versions: ranges.map(intervalOf) };
}

function intervalOf(range: string): AffectedProduct['versions'][number] {
  if (range === '*') return {};
  if (range.startsWith('=')) return { from: range.slice(1), upTo: range.slice(1) };
  const terms = range.split(' ');
  const last = terms.at(-1) ?? '';
  const from = last === terms[0] && /^\d/.test(last) === false ? undefined : terms[0];
  const end = last.startsWith('<=') ? { upTo: last.slice(2) } : last.startsWith('<') ? { below: last.slice(1) } : {};
  return { ...(from === undefined ? {} : { from }), ...end };
}
