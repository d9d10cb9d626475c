// A resolver whose upstreams follow scripts, and the scripts that several tests use.
import dnsPacket from 'dns-packet';
import { Resolver, type ResolverOptions } from '../dns/resolver.ts';
import { a, type DnsScript, reply, startDnsServer } from './dns-server.ts';

/** For tests of time-outs; the default is generous, since a busy machine may answer late. */
export const IMPATIENT = { tryTimeoutMs: 200, totalTimeoutMs: 500 } as const;

/** A resolver whose upstreams follow the scripts; `asked` lists the questions to the first one. */
export async function scriptedResolver(scripts: readonly DnsScript[], options: ResolverOptions = {}) {
  const servers = await Promise.all(scripts.map((script) => startDnsServer(script)));
  const resolver = new Resolver({ upstreams: servers, tryTimeoutMs: 15_000, totalTimeoutMs: 30_000, ...options });
  return {
    resolver,
    servers,
    asked: servers[0]?.asked ?? [],
    async [Symbol.asyncDispose]() {
      await resolver[Symbol.asyncDispose]();
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** What a resolver answers for `a.test` at one upstream, and the questions that it sent. */
export async function lookUp(script: DnsScript, type: 'A' | 'NS' | 'TXT' = 'A', options: ResolverOptions = {}) {
  await using scripted = await scriptedResolver([script], options);
  return { ...(await scripted.resolver.query('a.test', type)), asked: scripted.asked };
}

export const silent: DnsScript = () => [];
export const found: DnsScript = (q) => [reply(q, { answers: [a(q.name, '192.0.2.1')] })];
export const rcode =
  (code: number): DnsScript =>
  (question) => [reply(question, { rcode: code })];
export const truncated =
  (overTcp: DnsScript): DnsScript =>
  (question) =>
    question.transport === 'udp' ? [reply(question, { flags: dnsPacket.TRUNCATED_RESPONSE })] : overTcp(question);
