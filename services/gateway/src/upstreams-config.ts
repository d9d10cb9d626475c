// STRATA_UPSTREAMS: named upstream servers, and names of models that several targets answer. A map of the settings file, or
// JSON.
import { suggestionFor } from '@strata/http/nearest-names';
import { z } from 'zod';
import { FAULT_REASONS } from './answers/targets/fault.ts';

/** A token of headers (RFC 9651), where `gateway` is the gateway itself. */
const Name = z.string().regex(/^(?!gateway$)[A-Za-z][\w.-]{0,63}$/, 'must be letters, digits, `.`, `_` and `-`');
/** Printed in headers, and in messages. */
const ModelName = z
  .string()
  .max(200)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a name without spaces and quotation marks');
const seconds = (max: number) => z.number().min(0.1).max(max);

const Server = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).refine((url) => !/[@?#]/.test(url), 'must have no login and no query'),
  key: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'must be printable ASCII without spaces')
    .optional(),
  models: z.array(ModelName).min(1).max(200),
  slots: z.int().min(1).max(10_000).default(8),
  context: z.int().min(64).max(10_000_000).optional(),
  /** To the first token. */
  timeout: seconds(3_600).optional(),
});

const Weights = z
  .record(ModelName, z.number().min(0).max(1_000_000))
  .refine((weights) => Object.values(weights).some((weight) => weight > 0), 'must have a weight above 0');
const Group = z.union([ModelName.transform((name): Record<string, number> => ({ [name]: 1 })), Weights]);

const Shape = z.strictObject({
  servers: z.record(Name, Server).default({}),
  aliases: z.record(ModelName, z.array(Group).min(1).max(16)).default({}),
  on: z.array(z.enum(FAULT_REASONS)).default(['connect', 'timeout', 'busy', 'failed', 'refused']),
  failures: z.int().min(1).max(100).default(3),
  window: seconds(3_600).default(60),
  cooldown: seconds(300).default(30),
});

const MAX_SERVERS = 64;
const MAX_ALIASES = 1_000;

export interface UpstreamServer {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly models: readonly string[];
  readonly slots: number;
  readonly contextLength: number | undefined;
  readonly firstTokenMs: number | undefined;
}

/** `server` undefined: a model of this gateway or the network. */
export interface AliasTarget {
  readonly server: string | undefined;
  readonly model: string;
  readonly weight: number;
}

export interface Alias {
  readonly id: string;
  readonly groups: readonly (readonly AliasTarget[])[];
}

export type UpstreamsConfig = z.output<typeof Upstreams>;

/** The setting. Messages name positions and names, never a key. */
export const Upstreams = z
  .preprocess((text, context) => {
    try {
      return text === undefined ? {} : JSON.parse(String(text));
    } catch {
      // Its own message would quote the text.
      context.addIssue({ code: 'custom', message: 'must be a map in the settings file, or JSON' });
      return {};
    }
  }, Shape)
  .transform((given, context) => {
    const { servers, aliases, failures, window, cooldown } = given;
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (Object.keys(servers).length > MAX_SERVERS) issue(['servers'], `must be at most ${MAX_SERVERS}`);
    if (Object.keys(aliases).length > MAX_ALIASES) issue(['aliases'], `must be at most ${MAX_ALIASES}`);
    const targetOf = (alias: string, [name, weight]: [string, number]): AliasTarget => {
      const slash = name.indexOf('/');
      if (slash < 0) {
        if (name !== alias && Object.hasOwn(aliases, name)) issue(['aliases', alias], `${name} is an alias itself`);
        return { server: undefined, model: name, weight };
      }
      const [server, model] = [name.slice(0, slash), name.slice(slash + 1)];
      const known = Object.hasOwn(servers, server) ? servers[server] : undefined;
      if (!known)
        issue(['aliases', alias], `unknown server '${server}'; ${suggestionFor(server, Object.keys(servers))}`);
      else if (!known.models.includes(model))
        issue(['aliases', alias], `'${model}' is not among its models; ${suggestionFor(model, known.models)}`);
      return { server, model, weight };
    };
    return {
      servers: Object.entries(servers).map(
        ([name, { url, key, models, slots, context: contextLength, timeout }]): UpstreamServer => ({
          ...{ name, baseUrl: url, apiKey: key, models: [...new Set(models)], slots, contextLength },
          firstTokenMs: timeout === undefined ? undefined : timeout * 1_000,
        }),
      ),
      aliases: Object.entries(aliases).map(
        ([id, groups]): Alias => ({
          id,
          groups: groups.map((group) => Object.entries(group).map((entry) => targetOf(id, entry))),
        }),
      ),
      on: new Set(given.on),
      health: { failures, windowMs: window * 1_000, cooldownMs: cooldown * 1_000 },
    };
  });
