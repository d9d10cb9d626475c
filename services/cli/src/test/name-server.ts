// A name server on loopback that knows `com.` alone, for checks of resolvers.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import dns from 'dns-packet';

const GOOD = { isSilent: false, rcode: 0, lies: false, hasTcp: true, hasEdns: true, validates: true };
export type Manners = Partial<typeof GOOD>;

/** A good one, but for these manners. */
export async function nameServer(manners: Manners) {
  const { isSilent, rcode, lies, hasTcp, hasEdns, validates } = { ...GOOD, ...manners };
  const answer = (bytes: Buffer): Buffer => {
    const query = dns.decode(bytes);
    const [question] = query.questions ?? [];
    const isKnown = question?.name === 'com';
    const answers: dns.Answer[] = isKnown
      ? [{ type: 'NS', name: 'com', ttl: 60, data: 'a.gtld-servers.net' }]
      : lies && question
        ? [{ type: 'A', name: question.name, ttl: 60, data: '192.0.2.80' }]
        : [];
    return dns.encode({
      type: 'response',
      id: query.id ?? 0,
      flags: (validates ? dns.AUTHENTIC_DATA : 0) | dns.RECURSION_AVAILABLE | (isKnown || lies ? rcode : 3),
      questions: question ? [question] : [],
      answers: rcode === 0 ? answers : [],
      additionals: hasEdns ? (query.additionals ?? []) : [],
    });
  };
  const server = createServer((connection) => {
    connection.on('error', () => {});
    connection.on('data', (bytes) => {
      const reply = answer(bytes.subarray(2));
      connection.end(Buffer.concat([Buffer.of(reply.length >> 8, reply.length & 255), reply]));
    });
  });
  const listen = async (triesLeft: number): Promise<Socket> => {
    const socket = createSocket('udp4', (bytes, { port, address }) => {
      if (!isSilent) socket.send(answer(bytes), port, address);
    }).bind(0, '127.0.0.1');
    await once(socket, 'listening');
    if (!hasTcp) return socket;
    try {
      await once(server.listen(socket.address().port, '127.0.0.1'), 'listening');
      return socket;
    } catch (error) {
      // A port that is free for UDP may be taken for TCP.
      socket.close();
      if (triesLeft === 0) throw error;
      return listen(triesLeft - 1);
    }
  };
  const socket = await listen(20);
  return {
    address: '127.0.0.1',
    port: socket.address().port,
    async [Symbol.asyncDispose]() {
      socket.close();
      if (hasTcp) await new Promise((closed) => server.close(closed));
    },
  };
}
