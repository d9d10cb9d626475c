// The least that answers so: a Fastify route that sends an answer of a node.
import Fastify from 'fastify';
import { childArgument, reportReady } from '../measure.ts';

const { answer } = childArgument<{ readonly answer: string }>();
const bytes = Buffer.from(answer);
const server = Fastify();
server.get('/', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(bytes));
reportReady({ base: await server.listen({ host: '127.0.0.1', port: 0 }) }, () => server.close());
