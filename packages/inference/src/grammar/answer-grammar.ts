// The grammar of an answer as the model's family writes it: reasoning first, then the text or the calls that the
// request requires. Under `tool_choice: auto` the text is free up to the mark of a call.
import { BARE, heldFormat } from '../answer/format/held-format.ts';
import type { HeldFormat, OutputFormat } from '../answer/format/syntax.ts';
import { CompletionError } from '../errors.ts';
import { type ChatRequest, callableTools, type Tool } from '../request/request.ts';
import { type AnswerRules, argumentsRule, CallGrammar, oneOf } from './call-grammar.ts';
import { freeText } from './free-text.ts';
import { grammarText } from './gbnf.ts';
import { harmonyRoot } from './harmony-grammar.ts';
import { schemaRule } from './schema-grammar.ts';
import { Work } from './text/work.ts';

export interface HeldAnswer {
  /** GBNF. */
  readonly grammar: string;
  /** How the answer is read; undefined: all is text. */
  readonly format: OutputFormat | undefined;
  /** The mark at the end of the prompt that is part of what is read. */
  readonly opening: string;
  /** The parameter to report if an engine cannot use the grammar. */
  readonly param: string;
}

/** The end of a prompt: the mark that it leaves open, as `openedBy` finds it, and its text. */
export interface PromptEnd {
  readonly opening: string;
  readonly text: string;
}

/** Of calls in one answer: a model that repeats itself ends there. */
const MAX_CALLS = 32;

type HeldRequest = Pick<ChatRequest, 'format' | 'tools' | 'toolChoice' | 'allowsParallelCalls' | 'prefersStrict'>;

/**
 * The grammar that holds an answer; undefined if the request requires none. Throws CompletionError that names what the
 * request requires and cannot be held.
 */
export function heldAnswer(request: HeldRequest, format: OutputFormat, end: PromptEnd): HeldAnswer | undefined {
  if (request.prefersStrict) {
    const work = new Work();
    const tools = request.tools.map((tool, i) => strictIfHeld(tool, i, work));
    const held = refusedAsUndefined(() => answerHeld({ ...request, tools }, format, end));
    if (held) return held;
  }
  return answerHeld(request, format, end);
}

/** A tool that does not say whether it is strict is, if a grammar can hold its schema. */
function strictIfHeld(tool: Tool, i: number, work: Work): Tool {
  if (tool.strict !== undefined) return tool;
  const target = { param: '', rules: new Map<string, string>(), work };
  const isHeld = refusedAsUndefined(() => argumentsRule(tool, i, target)) !== undefined;
  return isHeld ? { ...tool, strict: true } : tool;
}

function refusedAsUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof CompletionError) return undefined;
    throw error;
  }
}

function answerHeld(request: HeldRequest, format: OutputFormat, end: PromptEnd): HeldAnswer | undefined {
  const { callable, isCallForced } = callableTools(request);
  const isJson = !isCallForced && request.format.kind !== 'text';
  const isFree = !isCallForced && !isJson;
  if (isFree && !callable.some(({ strict }) => strict)) return undefined;
  const rules = new Map([['gap', '[ \\n]{0,3}']]);
  const work = new Work();
  const schema = isJson ? schemaOf(request.format, rules, work) : undefined;
  const tools = callable.map((tool) => heldTool(tool, request, { isFree }));
  const max = request.allowsParallelCalls && !isNamed(request) ? MAX_CALLS : 1;
  const calls = tools.length > 0 ? new CallGrammar(tools, { rules, max, work }) : undefined;
  const answer: AnswerRules = { rules, calls, schema, isCallForced };
  const isKnown = isSupported(format, end);
  const held = heldFormat(isKnown ? format : BARE, { hasCalls: calls !== undefined, isJson });
  if (isFree && held.calls.length === 0 && !held.hasHeaders) throw notHeld(request.tools);
  const root = held.hasHeaders ? harmonyRoot(answer) : rootOf(answer, held, end);
  const isPlain = calls === undefined && root === schema;
  return {
    ...{ grammar: grammarText(root, rules), opening: isKnown ? end.opening : '' },
    ...{ format: isPlain ? undefined : held, param: isJson ? 'response_format' : 'tools' },
  };
}

/** The marks of a call that a prompt leaves open, and headers without channels, have a grammar only as bare JSON. */
function isSupported({ calls, hasHeaders, hasChannels }: OutputFormat, { opening }: PromptEnd): boolean {
  if (hasHeaders) return hasChannels && opening === '<|start|>assistant';
  return opening === '' || !calls.some(({ opens }) => opens.includes(opening));
}

function schemaOf(format: ChatRequest['format'], rules: Map<string, string>, work: Work): string {
  const { schema, param } =
    format.kind === 'schema' ? format : { schema: { type: 'object' }, param: 'response_format' };
  return schemaRule(schema, { param, prefix: 's-', rules, work });
}

/** A named tool is called once. */
function isNamed({ toolChoice }: HeldRequest): boolean {
  return typeof toolChoice === 'object' && toolChoice.mode === 'required' && toolChoice.names.length === 1;
}

/** Under `auto`, arguments of a tool that is not strict are any object. */
function heldTool({ name, parameters, strict }: Tool, { tools }: HeldRequest, { isFree }: { isFree: boolean }) {
  const param = `tools[${tools.findIndex((each) => each.name === name)}].function.parameters`;
  return { name, parameters: isFree && !strict ? {} : parameters, param };
}

function notHeld(tools: readonly Tool[]): CompletionError {
  const param = `tools[${tools.findIndex(({ strict }) => strict)}].function.strict`;
  const message = 'A strict tool needs `tool_choice: required` with this model.';
  return new CompletionError('unsupported_value', message, { param });
}

function rootOf({ rules, calls, schema, isCallForced }: AnswerRules, held: HeldFormat, end: PromptEnd): string {
  const marked = calls?.marked(held.calls);
  const bare = held.held.bare.map((start) => calls?.bare(start) ?? '');
  const triggers = held.calls.flatMap(({ opens }) => opens);
  const { reasoning, dropped } = held;
  if (!isCallForced && schema === undefined) {
    const prose = freeText({
      ...{ prefix: 'p-', rules, without: [...triggers, ...(bare.length > 0 ? dropped : [])] },
      ...{ notFirst: held.held.bare, after: reasoning?.closes ?? [] },
    });
    return [`${prose} ${marked}?`, ...bare.map((each) => `gap ${each}`)].join(' | ');
  }
  const called = held.hasKnownCalls ? [...(marked ? [marked] : []), ...bare] : bare;
  const body = `(${[...(schema ? [schema] : []), ...called].join(' | ')})`;
  const lead = dropped.length > 0 ? `(${oneOf(dropped)} gap){0,3} ` : '';
  const plain = lead === '' && called.length === 0 ? (schema ?? body) : `${lead}${body}`;
  const state = reasoning ? reasoningState(held, end) : 'none';
  if (state === 'none' || !reasoning) return plain;
  const thoughts = freeText({ prefix: 'r-', rules, without: [...reasoning.closes, ...triggers] });
  // A call ends the reasoning too.
  const after = `(${oneOf(reasoning.closes)} gap ${lead}${body}${marked ? ` | ${marked}` : ''})`;
  return state === 'open' ? `${thoughts} ${after}` : `${oneOf(reasoning.opens)} ${thoughts} ${after} | ${plain}`;
}

function reasoningState({ reasoning, mayReason }: OutputFormat, { opening, text }: PromptEnd) {
  if (reasoning?.opens.includes(opening)) return 'open';
  const isClosed = reasoning?.closes.some((close) => text.trimEnd().endsWith(close.trimEnd()));
  return mayReason && !isClosed ? 'possible' : 'none';
}
