// What each resolver can do: reached by UDP and by TCP, EDNS, the truth about names that do not exist, signatures checked.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import dns, { type DecodedPacket } from 'dns-packet';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface ResolverPlace {
  readonly address: string;
  readonly port: number;
}

type Way = (resolver: ResolverPlace, query: Buffer, timeoutMs: number) => Promise<Buffer>;

/** Exists for as long as DNS does, and has been signed since 2011. */
const SURE_NAME = 'com';
/** Passes everywhere without fragments (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1_232;
const TRIES = 2;

/** Asks one resolver a handful of questions. */
export async function checkResolver(resolver: ResolverPlace, { timeoutMs = 3_000 } = {}): Promise<Finding> {
  const check = `resolver ${isIPv6(resolver.address) ? `[${resolver.address}]` : resolver.address}:${resolver.port}`;
  const ask = (name: string, type: 'NS' | 'A', way: Way = overUdp) => askOnce({ resolver, name, type, way, timeoutMs });
  const startedAt = performance.now();
  const sure = await ask(SURE_NAME, 'NS');
  const tookMs = Math.round(performance.now() - startedAt);
  if (sure === undefined)
    return problem(check, {
      found: 'does not answer over UDP',
      means: 'Nothing can be scanned through it.',
      todo: 'Check address, port and firewall (UDP and TCP 53 out), or name others with STRATA_RESOLVERS.',
    });
  if (rcodeOf(sure) !== 'NOERROR' || !sure.answers?.length)
    return problem(check, {
      found: `answers ${rcodeOf(sure)} about ${SURE_NAME}., which exists`,
      means: 'Every domain would be unmeasured.',
      todo: 'It may refuse this network, or have no way out: allow recursion for this address, or name another with STRATA_RESOLVERS.',
    });
  // One right below a zone that exists, and one of the zone that never does (RFC 6761 §6.4).
  const label = `x${randomBytes(10).toString('hex')}`;
  const missing = await Promise.all([`${label}.com`, `${label}.invalid`].map((name) => ask(name, 'A')));
  if (missing.some((answer) => answer !== undefined && rcodeOf(answer) === 'NOERROR' && answer.answers?.length))
    return problem(check, {
      found: 'gives addresses for names that do not exist',
      means: 'Domains that are gone would seem to live, all with the same host.',
      todo: 'Turn off its redirection of unknown names, or name another with STRATA_RESOLVERS.',
    });
  const weak: Finding[] = [];
  if ((await ask(SURE_NAME, 'NS', overTcp)) === undefined)
    weak.push(
      warning(check, {
        found: 'does not answer over TCP',
        means:
          'Answers too long for one packet (many TXT and DNSKEY records) are lost, and their sources stay unmeasured.',
        todo: 'Let TCP 53 through.',
      }),
    );
  if (!sure.additionals?.some(({ type }) => type === 'OPT'))
    weak.push(
      warning(check, {
        found: 'does not speak EDNS',
        means: 'Answers beyond 512 bytes need TCP, and signatures cannot be judged.',
        todo: 'Update it, or the box between that strips EDNS.',
      }),
    );
  else if (!sure.flag_ad)
    weak.push(
      warning(check, {
        found: 'does not check DNSSEC',
        means: 'Of every domain the DNSSEC verdict is `unknown`.',
        todo: 'Turn validation on (Unbound: auto-trust-anchor-file, BIND: dnssec-validation auto), or name another.',
      }),
    );
  return weak.length > 1
    ? {
        ...(weak[0] as Finding),
        found: weak.map(({ found }) => found).join('; '),
        means: weak.map(({ means }) => means).join(' '),
        todo: weak.map(({ todo }) => todo).join(' '),
      }
    : (weak[0] ?? ok(check, `answers over UDP in ${tookMs} ms and over TCP, with EDNS; checks DNSSEC`));
}

interface Question {
  readonly resolver: ResolverPlace;
  readonly name: string;
  readonly type: 'NS' | 'A';
  readonly way: Way;
  readonly timeoutMs: number;
}

/** Undefined where no answer came that can be read. */
async function askOnce({ resolver, name, type, way, timeoutMs }: Question): Promise<DecodedPacket | undefined> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const id = randomBytes(2).readUInt16BE();
    const query = dns.encode({
      type: 'query',
      id,
      flags: dns.RECURSION_DESIRED | dns.AUTHENTIC_DATA,
      questions: [{ type, name }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: UDP_PAYLOAD_BYTES,
          flags: 0,
          options: [],
          extendedRcode: 0,
          ednsVersion: 0,
          flag_do: false,
        },
      ],
    });
    const answer = await way(resolver, query, timeoutMs)
      .then((bytes) => dns.decode(bytes))
      .catch(() => undefined);
    if (answer?.id === id && answer.type === 'response') return answer;
  }
  return undefined;
}

const rcodeOf = (answer: DecodedPacket) => (answer as DecodedPacket & { readonly rcode?: string }).rcode ?? 'unknown';

const overUdp: Way = ({ address, port }, query, timeoutMs) => {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  let late: NodeJS.Timeout | undefined;
  return new Promise<Buffer>((resolve, reject) => {
    late = setTimeout(() => reject(new Error('no answer')), timeoutMs);
    socket.once('error', reject);
    socket.once('message', resolve);
    socket.connect(port, address, () => socket.send(query));
  }).finally(() => {
    clearTimeout(late);
    socket.close();
  });
};

/** Two bytes of length before each message (RFC 1035 §4.2.2). */
const overTcp: Way = ({ address, port }, query, timeoutMs) => {
  const socket = connect({ host: address, port });
  return new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(timeoutMs, () => reject(new Error('no answer')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) resolve(received.subarray(2));
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
  }).finally(() => socket.destroy());
};
