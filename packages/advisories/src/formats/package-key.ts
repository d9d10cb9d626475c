// Product keys of packages, by the names of ecosystems and package URLs.
// https://github.com/package-url/purl-spec, https://ossf.github.io/osv-schema/#defined-ecosystems
import type { ProductKey, VersionScheme } from '../advisory.ts';

interface Ecosystem {
  /** The package URL's type, with a namespace if the ecosystem implies one: `deb/debian`. */
  readonly type: string;
  readonly scheme: VersionScheme;
  /** A distribution, whose package of a product differs from the product as its maker published it. */
  readonly isDistribution?: true;
}

const MAX_NAME = 512;

const ecosystems: ReadonlyMap<string, Ecosystem> = new Map<string, Ecosystem>([
  ['npm', { type: 'npm', scheme: 'semver' }],
  ['crates.io', { type: 'cargo', scheme: 'semver' }],
  ['Go', { type: 'golang', scheme: 'semver' }],
  ['Hex', { type: 'hex', scheme: 'semver' }],
  ['Pub', { type: 'pub', scheme: 'semver' }],
  ['SwiftURL', { type: 'swift', scheme: 'semver' }],
  ['GitHub Actions', { type: 'githubactions', scheme: 'semver' }],
  ['Bitnami', { type: 'bitnami', scheme: 'semver' }],
  ['Julia', { type: 'julia', scheme: 'semver' }],
  ['PyPI', { type: 'pypi', scheme: 'python' }],
  // Versions with four numbers, or suffixes that SemVer does not define.
  ['NuGet', { type: 'nuget', scheme: 'dotted' }],
  ['Packagist', { type: 'composer', scheme: 'dotted' }],
  ['RubyGems', { type: 'gem', scheme: 'dotted' }],
  ['Maven', { type: 'maven', scheme: 'dotted' }],
  ['Hackage', { type: 'hackage', scheme: 'dotted' }],
  ['CRAN', { type: 'cran', scheme: 'dotted' }],
  ['ConanCenter', { type: 'conan', scheme: 'dotted' }],
  ['OSS-Fuzz', { type: 'generic', scheme: 'dotted' }],
  ['Debian', { type: 'deb/debian', scheme: 'deb', isDistribution: true }],
  ['Ubuntu', { type: 'deb/ubuntu', scheme: 'deb', isDistribution: true }],
  ['Red Hat', { type: 'rpm/redhat', scheme: 'rpm', isDistribution: true }],
  ['Rocky Linux', { type: 'rpm/rocky-linux', scheme: 'rpm', isDistribution: true }],
  ['AlmaLinux', { type: 'rpm/almalinux', scheme: 'rpm', isDistribution: true }],
  ['SUSE', { type: 'rpm/suse', scheme: 'rpm', isDistribution: true }],
  ['openSUSE', { type: 'rpm/opensuse', scheme: 'rpm', isDistribution: true }],
  ['openEuler', { type: 'rpm/openeuler', scheme: 'rpm', isDistribution: true }],
  ['Mageia', { type: 'rpm/mageia', scheme: 'rpm', isDistribution: true }],
  ['Alpine', { type: 'apk/alpine', scheme: 'dotted', isDistribution: true }],
  ['Wolfi', { type: 'apk/wolfi', scheme: 'dotted', isDistribution: true }],
  ['Chainguard', { type: 'apk/chainguard', scheme: 'dotted', isDistribution: true }],
]);

/** Hosts of package collections in `collectionURL` of CVE records. */
const collections: ReadonlyMap<string, string> = new Map([
  ['registry.npmjs.org', 'npm'],
  ['npmjs.com', 'npm'],
  ['npmjs.org', 'npm'],
  ['pypi.org', 'PyPI'],
  ['pypi.python.org', 'PyPI'],
  ['packagist.org', 'Packagist'],
  ['repo.packagist.org', 'Packagist'],
  ['rubygems.org', 'RubyGems'],
  ['repo.maven.apache.org', 'Maven'],
  ['repo1.maven.org', 'Maven'],
  ['search.maven.org', 'Maven'],
  ['central.sonatype.com', 'Maven'],
  ['maven.org', 'Maven'],
  ['nuget.org', 'NuGet'],
  ['api.nuget.org', 'NuGet'],
  ['pkg.go.dev', 'Go'],
  ['proxy.golang.org', 'Go'],
  ['crates.io', 'crates.io'],
  ['hex.pm', 'Hex'],
  ['pub.dev', 'Pub'],
  ['hackage.haskell.org', 'Hackage'],
]);

/** `Debian:12` is Debian. */
export function ecosystemOf(name: string): Ecosystem | undefined {
  return ecosystems.get(name.split(':', 1)[0] ?? '');
}

/** `pkg:npm/%40scope/name`; undefined for an invalid name. */
export function packageKey({ type }: Pick<Ecosystem, 'type'>, name: string): ProductKey | undefined {
  const path = type === 'maven' ? name.replace(':', '/') : name;
  const parts = path.trim().toLowerCase().split('/');
  if (name.length > MAX_NAME || parts.some((part) => part === '')) return undefined;
  const last = parts.at(-1) ?? '';
  // PEP 503: runs of these characters become one hyphen.
  const own = type === 'pypi' ? last.replace(/[-_.]+/g, '-') : last;
  const encoded = [...parts.slice(0, -1), own].map((part) => encodeURIComponent(part.toWellFormed()));
  return `pkg:${type}/${encoded.join('/')}`;
}

/** The key of a package URL, without version, qualifiers and subpath. */
export function packageUrlKey(purl: string): ProductKey | undefined {
  const [, type, rest] = /^pkg:\/{0,2}([a-z][a-z0-9.+-]{0,31})\/([^?#]+)/i.exec(purl.slice(0, MAX_NAME)) ?? [];
  if (type === undefined || rest === undefined) return undefined;
  const at = rest.lastIndexOf('@');
  // An unencoded `@` of a scope precedes the name.
  const name = at > 0 && !rest.slice(at).includes('/') ? rest.slice(0, at) : rest;
  try {
    return packageKey({ type: type.toLowerCase() }, decodeURIComponent(name.replace(/\/$/, '')));
  } catch {
    return undefined;
  }
}

/** The key of a package in a collection with a known address. */
export function collectionKey(collectionUrl: string, name: string): ProductKey | undefined {
  const host = URL.parse(collectionUrl)?.hostname.replace(/^www\./, '');
  const ecosystem = ecosystems.get(collections.get(host ?? '') ?? '');
  return ecosystem && packageKey(ecosystem, name);
}
