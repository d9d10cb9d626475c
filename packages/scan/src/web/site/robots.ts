// robots.txt (RFC 9309): read once an origin, asked before every page of it.
import robotsParser, { type Robot } from 'robots-parser';
import type { Visit } from './web-client.ts';

/** RFC 9309 §2.5: at least 500 KiB are read; the rest is cut off, mid-line at worst. */
const MAX_ROBOTS_CHARACTERS = 512 * 1_024;

// The package is CommonJS and its types describe an ES module: the default import is the function itself.
const parseRobots = robotsParser as unknown as (url: string, contents: string) => Robot;

/** Whether we may visit a URL: missing rules allow, a server's error forbids (§2.3.1.3, §2.3.1.4). */
export function welcomeOf(robots: Visit, origin: string, userAgent: string): (url: URL) => boolean {
  if (robots.kind === 'failed') return () => true;
  if (robots.statusCode >= 500) return () => false;
  // A redirect is followed by the page's own visit or not at all.
  if (robots.statusCode !== 200) return () => true;
  const rules = parseRobots(`${origin}/robots.txt`, robots.body.toString('utf8').slice(0, MAX_ROBOTS_CHARACTERS));
  const product = userAgent.split('/')[0] ?? userAgent;
  return (url) => rules.isAllowed(url.href, product) !== false;
}
