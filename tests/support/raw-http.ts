// Requests as an attacker writes them: byte by byte.
import { connect, type Socket } from 'node:net';

/** All that a server sends after these bytes until it ends the connection. */
export function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const answer = received(socket);
  socket.write(bytes, 'latin1');
  return answer;
}

/** The same after a request with these header fields, at most one on the connection. */
export const request = (port: number, line: string, fields: readonly string[] = [], body = ''): Promise<string> =>
  exchange(port, `${line} HTTP/1.1\r\n${[...fields, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);

/** What comes until the other side closes; a minute of silence is a failure. */
export function received(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.setTimeout(60_000, () => {
      socket.destroy();
      reject(new Error('the server does not end the connection'));
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that has refused may reset what is still being sent.
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** The status of each answer. */
export const statuses = (answers: string): number[] =>
  [...answers.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));
