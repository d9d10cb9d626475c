// Loaded into commands under test: connections that would leave this machine are refused, as on one without a network.
import { isIPv4, Socket, type TcpSocketConnectOpts } from 'node:net';

const connect = Socket.prototype.connect;

Socket.prototype.connect = function (this: Socket, ...given: unknown[]): Socket {
  // Node's own modules pass the arguments as one normalized array.
  const [first] = Array.isArray(given[0]) ? given[0] : given;
  const { host, port } = (typeof first === 'object' && first !== null ? first : {}) as Partial<TcpSocketConnectOpts>;
  const isNear =
    host === undefined || host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
  if (isNear) return Reflect.apply(connect, this, given);
  const message = `connect ECONNREFUSED ${host}:${port}`;
  const refused = Object.assign(new Error(message), { code: 'ECONNREFUSED', syscall: 'connect' });
  process.nextTick(() => this.destroy(refused));
  return this;
};
