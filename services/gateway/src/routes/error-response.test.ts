// Which refusals are logged, and how: a client with a key sees its own mistakes, those without one are aggregated.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EngineError } from '@strata/engine';
import { Metrics } from '@strata/http';
import { CompletionError } from '@strata/inference';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { errorFormat } from './error-response.ts';

/** Levels and messages of what is logged of an error, twice in a row. */
function logged(error: unknown, hasKey: boolean): string[] {
  const lines: string[] = [];
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line);
    lines.push(`${pino.levels.labels[level]}: ${msg}`);
  };
  const reply = {
    code: () => reply,
    headers: () => reply,
    type: () => reply,
    send: () => reply,
  } as unknown as FastifyReply;
  const request = { id: 'r', url: '/', headers: {}, caller: hasKey ? {} : undefined } as unknown as FastifyRequest;
  const format = errorFormat({ logger: pino({}, { write }), metrics: new Metrics() });
  for (let i = 0; i < 2; i += 1) format.send(error, request, reply);
  return lines;
}

const aggregated = ['info: request refused'];
const each = Array(2).fill('warn: request refused');
const failed = Array(2).fill('error: request failed');
for (const [name, error, withKey, withoutKey] of [
  ['an error of the request', new CompletionError('invalid_value', 'x'), [], aggregated],
  ['a reached limit', new CompletionError('rate_limit', 'x'), [], aggregated],
  ['an overload', new CompletionError('overloaded', 'x'), each, aggregated],
  ['a failed engine', new EngineError('upstream-failed', 'x'), each, each],
  ['a bug', new Error('x'), failed, failed],
] as const)
  it(`${name} is logged as far as the operator can act on it`, () => {
    assert.deepEqual([logged(error, true), logged(error, false)], [withKey, withoutKey]);
  });
