// A scripted name server over UDP and TCP on one loopback port.

import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import dnsPacket, { type Answer, type DecodedPacket, type Packet } from 'dns-packet';

export interface DnsQuestion {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly transport: 'udp' | 'tcp';
  readonly bytes: Buffer;
}

/** Messages to send, in order; no message means no response. Over TCP `raw` has no length, nor has `drip`: a byte at a time, without an end. */
type DnsReply = readonly Buffer[] | { raw: Buffer } | { drip: Buffer } | Promise<readonly Buffer[]>;
export type DnsScript = (question: DnsQuestion) => DnsReply;

/** On loopback; port 0 lets the system choose. @throws EADDRINUSE when a port that was asked for is taken. */
export async function startDnsServer(script: DnsScript, { address = '127.0.0.1', port: wanted = 0 } = {}) {
  /** Every question in order of arrival, as `TYPE name`, with `/tcp` behind it when it came that way. */
  const asked: string[] = [];
  const read = (bytes: Buffer, transport: 'udp' | 'tcp'): DnsQuestion => {
    const packet = dnsPacket.decode(bytes) as DecodedPacket & { id: number };
    const { name = '', type = 'A' } = packet.questions?.[0] ?? {};
    asked.push(`${type} ${name}${transport === 'tcp' ? '/tcp' : ''}`);
    return { id: packet.id, name, type, transport, bytes };
  };
  const tcp = createServer((socket) => {
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    const answer = async (bytes: Buffer) => {
      const reply = await script(read(bytes, 'tcp'));
      if ('raw' in reply) socket.end(reply.raw);
      else if ('drip' in reply) {
        let sent = 0;
        const timer = setInterval(() => socket.write(reply.drip.subarray(sent, ++sent)), 20);
        socket.on('close', () => clearInterval(timer));
      } else
        for (const message of reply)
          socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]));
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        void answer(received.subarray(2, end));
        received = received.subarray(end);
      }
    });
  });
  const { port, udp } = await listen(tcp, address, wanted);
  udp.on('message', async (bytes: Buffer, from: RemoteInfo) => {
    const reply = await script(read(bytes, 'udp'));
    if ('length' in reply) for (const message of reply) udp.send(message, from.port, from.address);
  });
  return {
    address,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
      await once(tcp, 'close');
    },
  };
}

/** The same port for both: rarely, the port that TCP got is taken for UDP. */
async function listen(tcp: Server, address: string, wanted: number) {
  for (let attempt = 0; ; attempt++) {
    tcp.listen(wanted, address);
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    udp.bind(port, address);
    try {
      await once(udp, 'listening');
      return { port, udp };
    } catch (error) {
      tcp.close();
      if (attempt === 5 || wanted !== 0) throw error;
      await once(tcp, 'close');
    }
  }
}

interface ReplyParts extends Readonly<Partial<Record<'answers' | 'authorities' | 'additionals', readonly Answer[]>>> {
  readonly rcode?: number;
  readonly flags?: number;
}

export function reply({ id, name, type }: DnsQuestion, { rcode = 0, flags = 0, ...records }: ReplyParts = {}): Buffer {
  const isRecursive = dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE;
  const questions = [{ name, type: type as 'A' }];
  const all = isRecursive | flags | rcode;
  return dnsPacket.encode({ type: 'response', id, flags: all, questions, ...(records as Packet) });
}

const record = (type: Answer['type'], name: string, data: unknown, ttl = 300) => ({ type, name, ttl, data }) as Answer;
export const a = (name: string, data: string, ttl?: number) => record('A', name, data, ttl);
export const aaaa = (name: string, data: string) => record('AAAA', name, data);
export const cname = (name: string, data: string) => record('CNAME', name, data);
export const ns = (name: string, data: string) => record('NS', name, data);
export const mx = (name: string, exchange: string, preference = 10) => record('MX', name, { preference, exchange });
export const ds = (name: string) =>
  record('DS', name, { keyTag: 1, algorithm: 13, digestType: 2, digest: Buffer.from('d4b7', 'hex') });
export const txt = (name: string, ...data: (string | Buffer)[]) => record('TXT', name, data);
export const soa = (name: string, minimum = 60) => {
  const times = { serial: 7, refresh: 1, retry: 1, expire: 1, minimum };
  return record('SOA', name, { mname: `ns1.${name}`, rname: `hostmaster.${name}`, ...times });
};

/** A server for a fixed set of records: anything else is NODATA when the name is there, or one below it, else NXDOMAIN. */
export const zone =
  (records: readonly Answer[]): DnsScript =>
  (question) => {
    const chain = (owner: string, links = 0): readonly Answer[] => {
      const own = records.filter(({ name }) => name === owner);
      const found = own.filter(({ type }) => type === question.type);
      const alias = own.find(({ type }) => type === 'CNAME');
      if (found.length > 0 || alias?.type !== 'CNAME' || links === 8) return found;
      return [alias, ...chain(alias.data, links + 1)];
    };
    const answers = chain(question.name);
    if (answers.length > 0) return [reply(question, { answers })];
    const isThere = records.some(({ name }) => `.${name}`.endsWith(`.${question.name}`));
    return [reply(question, { authorities: [soa('test')], rcode: isThere ? 0 : 3 })];
  };
