// The lower bound of a scan: the same questions and requests, sent by Node's own resolver and HTTPS client; answers are not read.
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import type { Evidence, Lookup } from '@strata/detect';
import { type BenchInternet, near } from '../internet.ts';
import { timed } from '../measure.ts';

type Question = readonly [name: string, type: 'A' | 'AAAA' | 'CAA' | 'MX' | 'NS' | 'SOA' | 'TLSA' | 'TXT'];

interface Traffic {
  readonly questions: readonly Question[];
  readonly address: string | undefined;
  readonly urls: readonly URL[];
}

/** What a probe sent for its evidence. Cached answers and repetitions are not in it: slightly less. */
export function trafficOf({ domain, dns, addresses, http: home, policies, files }: Evidence): Traffic {
  const at = (labels: readonly string[]) => labels.map((label): Question => [`${label}.${domain}`, 'TXT']);
  // c-ares has no DS; the answer about TLSA is as small.
  const apexTypes = ['NS', 'SOA', 'A', 'AAAA', 'MX', 'TXT', 'CAA', 'TLSA'] as const;
  const apex = apexTypes.map((type): Question => [domain, type]);
  const address = [...dns.a.records, ...dns.www.records][0];
  if (dns.ns.status === 'nxdomain') return { questions: apex.slice(0, 1), address: undefined, urls: [] };
  const selectors = Object.entries(dns.named).filter(([label]) => label.endsWith('._domainkey'));
  const hasKeys = selectors.some(([, lookup]) => hasAnswer(lookup));
  const asked = Object.keys(dns.named).filter((label) => !dns.named[label]?.detail?.startsWith('not queried'));
  const labels = asked.filter((label) => hasKeys || !label.endsWith('._domainkey'));
  const hosts = labels.filter((label) => !label.startsWith('_') && !label.endsWith('._domainkey'));
  const texts = labels.filter((label) => !hosts.includes(label));
  const networks = new Set(addresses.filter(({ prefix }) => prefix !== null).map((each) => each.address));
  const questions: Question[] = [
    ...apex,
    ...at(['_dmarc', '_mta-sts', '_smtp._tls', 'default._bimi', '_domainkey', ...texts]),
    ...['www', 'no-such-label', ...hosts].map((label): Question => [`${label}.${domain}`, 'A']),
    ...Object.keys(policies?.spf ?? {}).map((name): Question => [name, 'TXT']),
    ...Object.keys(policies?.reportConsents ?? {}).map((host): Question => [`${domain}._report._dmarc.${host}`, 'TXT']),
    ...[...networks].map((each): Question => [`${each.split('.').reverse().join('.')}.origin.asn.cymru.com`, 'TXT']),
  ];
  if (home.url === null || address === undefined) return { questions, address, urls: [] };
  const pages = [...home.redirects, home.url].map((url) => new URL(url));
  const [origin = new URL(home.url)] = pages;
  const isIconAsked = files?.favicon !== undefined && files.favicon.status !== 'skipped';
  const paths = ['/robots.txt', '/.well-known/security.txt', ...(isIconAsked ? ['/favicon.ico'] : [])];
  return { questions, address, urls: [...pages, ...paths.map((path) => new URL(path, origin))] };
}

const hasAnswer = ({ records, aliases }: Lookup<string>) => records.length > 0 || aliases.length > 0;

/** Processor time of sending it, so many domains at once; the questions and the answered requests of a domain. */
export async function sendBareTraffic(all: readonly Traffic[], internet: BenchInternet, concurrency: number) {
  const resolver = new Resolver({ timeout: 500, tries: 4 });
  resolver.setServers([`${internet.resolver.address}:${internet.resolver.port}`]);
  const { dial } = near(internet);
  let answered = 0;
  const waiting = all.values();
  const worker = async () => {
    for (const { questions, address, urls } of waiting) {
      const asking = questions.map(([name, type]) => resolver.resolve(name, type).catch(() => undefined));
      using agents = new Agents();
      for (const url of urls) {
        const to = dial({ address: address ?? '', port: portOf(url) });
        if (await fetchBare(url, { agents, to })) answered += 1;
      }
      await Promise.all(asking);
    }
  };
  const { cpuSeconds } = await timed(() => Promise.all(Array.from({ length: concurrency }, worker)));
  const questions = all.reduce((sum, each) => sum + each.questions.length, 0);
  return {
    cpuMs: (cpuSeconds * 1_000) / all.length,
    questions: questions / all.length,
    answered: answered / all.length,
  };
}

/** One for all, as the probe has: without it Node makes one for each connection. */
const secureContext = tls.createSecureContext();

class Agents implements Disposable {
  readonly plain = new http.Agent({ keepAlive: true, maxSockets: 1 });
  readonly secure = new https.Agent({
    keepAlive: true,
    maxSockets: 1,
    maxCachedSessions: 0,
    rejectUnauthorized: false,
    secureContext,
  });

  [Symbol.dispose](): void {
    this.plain.destroy();
    this.secure.destroy();
  }
}

const portOf = (url: URL) => (url.protocol === 'https:' ? 443 : 80);

/** Reads the body to its end and drops it; whether there was an answer. */
async function fetchBare(
  url: URL,
  { agents, to }: { readonly agents: Agents; readonly to: { readonly address: string; readonly port: number } },
): Promise<boolean> {
  const options = { host: to.address, port: to.port, path: url.pathname + url.search, timeout: 1_500 };
  const isSecure = url.protocol === 'https:';
  const request = isSecure
    ? https.get({ ...options, servername: url.hostname, headers: { host: url.host }, agent: agents.secure })
    : http.get({ ...options, headers: { host: url.host }, agent: agents.plain });
  request.on('timeout', () => request.destroy());
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    await once(response, 'close');
    return true;
  } catch {
    // A server that fails by design; the probe's request failed as well.
    return false;
  }
}
