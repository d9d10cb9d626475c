// Extracts the version of a product from a header or a generator, and the platform named with it. The texts are
// untrusted:
// parsing takes time in proportion to the text, and text that is not a version gives null.

/** What one piece of evidence shows of a product. */
export interface ShownVersion {
  readonly version: string;
  /** Lower case, `ubuntu`; null without one. */
  readonly platform: string | null;
}

/** Only the beginning of longer texts is searched; a version that begins there is read to its end. */
const MAX_TEXT_LENGTH = 1024;
/** Longer than any `version` text of the catalog plus a version. */
const MAX_SHOWN_LENGTH = 256;
/** A longer token is not a version, and a truncated one would be a different version. */
const MAX_VERSION_LENGTH = 64;
const MAX_PLATFORM_LENGTH = 32;

const VERSION_START = /[0-9]/;
const VERSION_CHARACTER = /[0-9A-Za-z.+~:_-]/;
const WORD_CHARACTER = /[0-9A-Za-z_]/;
/** Windows, Darwin, and systems without a named distribution. */
const OTHER_SYSTEM = /win|mac|bsd|unix|solaris|sunos|aix|hp-ux|^linux$/;
const PLATFORM = /^[a-z][a-z0-9 ._+/-]*$/;

/** Suffixes that packagers add: `8.1.2-1ubuntu2.14`, `7.4.33-1+deb11u5`, `1.20.1-14.el9`. */
const DISTRIBUTIONS: readonly (readonly [mark: RegExp, platform: string])[] = [
  [/ubuntu|[+~-](?:trusty|xenial|bionic|focal|jammy|noble)/, 'ubuntu'],
  [
    /debian|[+~.-]deb\d|[+~-](?:sarge|etch|lenny|squeeze|wheezy|jessie|stretch|buster|bullseye|bookworm|trixie)/,
    'debian',
  ],
  [/\.el\d/, 'red hat enterprise linux'],
  [/\.amzn\d/, 'amazon linux'],
  [/\.fc\d/, 'fedora'],
];

/**
 * The version that follows `prefix` in `text` (the complete text for an empty prefix), in any case; null if there is
 * none.
 */
export function versionAfter(prefix: string, text: string): string | null {
  if (prefix === '') return text.length > MAX_TEXT_LENGTH ? null : completeVersion(text.trim());
  const value = text.slice(0, MAX_TEXT_LENGTH + MAX_SHOWN_LENGTH);
  const lower = value.toLowerCase();
  // A few letters change their length with their case, and positions would differ between the two texts.
  const shown = lower.length === value.length ? value : lower;
  const sought = prefix.toLowerCase();
  let at = lower.indexOf(sought);
  for (; at !== -1 && at < MAX_TEXT_LENGTH; at = lower.indexOf(sought, at + sought.length)) {
    if (isInsideWord(lower, at)) continue;
    const version = versionAt(shown, at + sought.length);
    if (version !== null) return version;
  }
  return null;
}

/** A version with its platform. `header` is the name of the header that shows it, null for the page. */
export function shownVersion(
  version: string | null,
  { header, serverHeader }: { readonly header: string | null; readonly serverHeader: string | null },
): ShownVersion | undefined {
  if (version === null) return undefined;
  const own = platformOf(version, header === 'server' ? serverHeader : null);
  return { version, platform: own ?? (header === null ? null : distributionIn(serverHeader)) };
}

/** The platform of a version: its own suffix, or the comment of a `Server` header. */
export function platformOf(version: string, serverHeader: string | null): string | null {
  const lower = version.toLowerCase();
  const built = DISTRIBUTIONS.find(([mark]) => mark.test(lower));
  if (built) return built[1];
  return serverHeader === null ? null : platformIn(serverHeader.slice(0, MAX_TEXT_LENGTH).toLowerCase());
}

/**
 * The distribution that packaged the server, from the comments of its header, which also applies to other headers. Null if
 * the comment names a system that packages nothing: that system is the server's only, which may front a different host.
 */
export function distributionIn(serverHeader: string | null): string | null {
  const platform = serverHeader === null ? null : platformIn(serverHeader.slice(0, MAX_TEXT_LENGTH).toLowerCase());
  return platform === null || OTHER_SYSTEM.test(platform) ? null : platform;
}

function completeVersion(value: string): string | null {
  const version = versionAt(value, 0);
  if (version === null) return null;
  // `1.2.3, 1.2.3` and `1.2.3 (x)` are more than a version; a trailing dot is not.
  const rest = value.slice(value.indexOf(version) + version.length);
  return /^\.*$/.test(rest) ? version : null;
}

function versionAt(text: string, from: number): string | null {
  const isMarked = /[vV]/.test(text.charAt(from)) && VERSION_START.test(text.charAt(from + 1));
  const start = isMarked ? from + 1 : from;
  if (!VERSION_START.test(text.charAt(start))) return null;
  let end = start + 1;
  while (end < text.length && VERSION_CHARACTER.test(text.charAt(end))) end += 1;
  while (text.charAt(end - 1) === '.') end -= 1;
  return end - start > MAX_VERSION_LENGTH ? null : text.slice(start, end);
}

/** `nginx/` does not match in `mod_nginx/1.0`. */
function isInsideWord(text: string, at: number): boolean {
  return at > 0 && WORD_CHARACTER.test(text.charAt(at)) && WORD_CHARACTER.test(text.charAt(at - 1));
}

/** In `Apache/2.4.52 (Ubuntu) OpenSSL/3.0.2`; `Jetty(9.4.1)` and `Passenger(R)` name no platform. */
function platformIn(header: string): string | null {
  const open = header.indexOf(' (');
  const close = header.indexOf(')', open);
  if (open === -1 || close === -1) return null;
  const platform = header.slice(open + 2, close).trim();
  return platform.length <= MAX_PLATFORM_LENGTH && PLATFORM.test(platform) ? platform : null;
}
