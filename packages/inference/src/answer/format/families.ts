// The formats of model families. A template shows which of them its model writes.

import { MESSAGE_ENDS } from './message-header.ts';
import type { CallSyntax, ReasoningSyntax, TagsBody } from './syntax.ts';

const attributes = { kind: 'tags', call: { open: '<invoke', until: '>' }, callEnd: '</invoke>' } as const;
const parameters = { param: { open: '<parameter', until: '>' }, paramEnd: '</parameter>' } as const;
const invoke: TagsBody = { ...attributes, ...parameters };
/** The same with a prefix in every tag. */
const prefixed = (open: string, close: string, callEnd = `${close}invoke>`): TagsBody => ({
  ...{ kind: 'tags', call: { open: `${open}invoke`, until: '>' }, callEnd },
  ...{ param: { open: `${open}parameter`, until: '>' }, paramEnd: `${close}parameter>` },
});
const functionTags: TagsBody = {
  ...{ kind: 'tags', call: { open: '<function=', until: '>' }, callEnd: '</function>', isPadded: true },
  ...{ param: { open: '<parameter=', until: '>' }, paramEnd: '</parameter>' },
};
const argumentPairs = (until: string): TagsBody => ({
  ...{ kind: 'tags', call: { open: '', until }, callEnd: '</tool_call>' },
  ...{ param: { open: '<arg_key>', until: '</arg_key>' }, valueOpen: '<arg_value>', paramEnd: '</arg_value>' },
});
const json = { kind: 'json' } as const;
const python = { kind: 'python' } as const;
const named = (header: RegExp, ...written: string[]) => ({ kind: 'named', header, written }) as const;
const SECTIONS = ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>'];
const MINIMAX = ']<]minimax[>[';
const tag = (name: string, kind: 'open' | 'close' = 'open') => [
  `<|${kind}|>${name}<|sep|>`,
  `<|${kind}|> ${name} <|sep|>`,
];

/** In the order in which they are tried. */
export const CALLS: readonly CallSyntax[] = [
  { opens: ['<seed:tool_call>'], closes: ['</seed:tool_call>'], body: functionTags },
  {
    ...{ hints: ['<function=', '<parameter='], opens: ['<tool_call>'], bare: ['<function='] },
    ...{ closes: ['</tool_call>'], body: functionTags },
  },
  // Functionary 3.1
  { hints: ['<function='], opens: ['<function='], closes: ['</function>'], body: named(/^([^>]+)>$/, 'NAME>') },
  { hints: ['<arg_key>'], opens: ['<tool_call>'], closes: [], body: argumentPairs('\n') },
  {
    ...{ hints: ['<tool_calls>'], opens: ['<tool_calls>', '<tool_call>'], closes: ['</tool_calls>'] },
    body: argumentPairs('<tool_sep>'),
  },
  {
    ...{ hints: ['<mm:think>'], opens: [`${MINIMAX}<tool_call>`], closes: [`${MINIMAX}</tool_call>`] },
    body: {
      ...{ kind: 'tags', call: { open: `${MINIMAX}<invoke`, until: '>' }, callEnd: `${MINIMAX}</invoke>` },
      ...{ param: { open: `${MINIMAX}<`, until: '>' }, paramEnd: `${MINIMAX}</NAME>`, nested: MINIMAX },
    },
  },
  { opens: ['<minimax:tool_call>'], closes: ['</minimax:tool_call>'], body: invoke },
  { opens: ['<dots_function_call>'], closes: ['</dots_function_call>'], body: invoke },
  {
    ...{ opens: ['<atem:function_calls>'], closes: ['</atem:function_calls>'] },
    body: prefixed('<atem:', '</atem:'),
  },
  ...['function_calls', 'tool_calls'].map(
    (name): CallSyntax => ({
      ...{ hints: ['｜DSML｜', `${name}`], opens: [`<｜DSML｜${name}>`], closes: [`</｜DSML｜${name}>`], trims: true },
      body: prefixed('<｜DSML｜', '</｜DSML｜'),
    }),
  ),
  {
    ...{ opens: ['<｜tool_calls_begin｜>', '<｜tool_call_begin｜>function<｜tool_sep｜>', '<｜tool_call_begin｜>'] },
    ...{ closes: ['<｜tool_call_end｜>', '<｜tool_calls_end｜>'], body: prefixed('<steptml:', '</steptml:') },
  },
  {
    ...{ hints: ['<function name='], opens: [], bare: ['<function name=', '<functionname='], closes: [] },
    body: {
      ...{
        kind: 'tags',
        call: { open: '<function', until: '>' },
        callEnd: '</function>',
        isChecked: true,
        hasCdata: true,
      },
      ...{ param: { open: '<param', until: '>' }, paramEnd: '</param>' },
    },
  },
  {
    ...{ hints: ["'<|open|>'"], opens: tag('tools'), closes: [...tag('tools', 'close'), ...tag('message', 'close')] },
    body: {
      ...{ kind: 'tags', call: { open: '<|open|>call', until: '<|sep|>' }, callEnd: '<|close|>call<|sep|>' },
      ...{ param: { open: '<|open|>argument', until: '<|sep|>' }, paramEnd: '<|close|>argument<|sep|>' },
    },
  },
  {
    ...{ opens: ['<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>'] },
    closes: ['```', '<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>'],
    body: named(
      /^(?:function<｜tool▁sep｜>)?([^<`]+)(?:<｜tool▁sep｜>)?(?:```json)?$/,
      ...['function<｜tool▁sep｜>NAME\n```json\n', 'NAME<｜tool▁sep｜>'],
    ),
  },
  {
    ...{ hints: ['<|tool_call_begin|>'], opens: [...SECTIONS, '<|tool_call_begin|>'] },
    closes: ['<|tool_call_end|>', '<|tool_calls_section_end|>', '<|tool_call_section_end|>'],
    body: named(
      /^(?:functions\.)?([^<:]+)(?::\d+)?<\|tool_call_argument_begin\|>$/,
      'functions.NAME:#<|tool_call_argument_begin|>',
    ),
  },
  {
    ...{ opens: ['<|tool_calls|>', '<|tool_call:begin|>'], closes: ['<|tool_call:end|>', '<|calls|>'] },
    body: named(/^[^<]*<\|tool_call:name\|>([^<]+)<\|tool_call:args\|>$/, '#<|tool_call:name|>NAME<|tool_call:args|>'),
  },
  {
    ...{ opens: ['[TOOL_CALLS]'], closes: [], trims: true },
    body: named(/^([^[{]+)(?:\[CALL_ID\][^[]*)?(?:\[ARGS\])?$/, 'NAME[ARGS]', 'NAME'),
  },
  { opens: ['[TOOL_CALLS]'], closes: [], body: json, trims: true },
  { hints: ['>>>'], opens: ['>>>'], closes: [], body: named(/^([^{]+)$/, 'NAME\n') },
  { opens: ['<|tool_call>'], closes: ['<tool_call|>'], body: { kind: 'braces', quote: '<|"|>' } },
  {
    ...{ opens: ['<start_function_call>'], closes: ['<end_function_call>'] },
    body: { kind: 'braces', quote: '<escape>' },
  },
  { opens: ['<|tool_call_start|>'], closes: ['<|tool_call_end|>'], body: python },
  { opens: ['<|tool_call_start|>'], closes: ['<|tool_call_end|>'], body: json },
  {
    ...{ hints: ['[func_name1('], opens: ['<|python_start|>'], bare: ['['], closes: ['<|python_end|>'], body: python },
  },
  { opens: ['<function_calls>'], closes: ['</function_calls>'], body: python },
  { hints: ['<|python_tag|>'], opens: ['<|python_tag|>'], bare: ['{'], closes: [], body: json },
  { opens: ['<|START_ACTION|>'], closes: ['<|END_ACTION|>'], body: json },
  { hints: ['Action:', 'tool_name'], opens: ['Action:', '```json'], closes: ['```'], body: json },
  { opens: ['<|action_start|>', '<|plugin|>'], closes: ['<|action_end|>'], body: json },
  {
    hints: ['<|tool_call|>'],
    opens: ['<|tool_call|>', '<tool_call>'],
    closes: ['</tool_call>', '<|/tool_call|>'],
    body: json,
  },
  { opens: ['<function_call>'], closes: ['</function_call>'], body: json },
  { opens: ['<longcat_tool_call>'], closes: ['</longcat_tool_call>'], body: json },
  { opens: ['<|tools_prefix|>'], closes: ['<|tools_suffix|>'], body: { kind: 'json', isKeyed: true } },
  { hints: ['<|role_sep|>'], opens: ['<|function_call|>'], closes: [], body: json },
  {
    ...{ hints: ['function call', '<|role_sep|>'], opens: ['<|message_sep|>\n\nfunction call<|role_sep|>\n'] },
    ...{ closes: ['<|message_sep|>'], body: json },
  },
  // xLAM
  {
    ...{
      hints: ['[{"name": "tool_call_name"'],
      opens: ['```json', '```', '[TOOL_CALLS]', '<tool_call>'],
      bare: ['['],
      closes: ['```', '</tool_call>'],
    },
    ...{ body: json, trims: true },
  },
  { hints: ['functools'], opens: ['functools'], closes: [], body: json },
  { opens: ['<TOOLCALL>'], closes: ['</TOOLCALL>'], body: json },
  { opens: ['<tool_calls>'], closes: ['</tool_calls>'], body: json, trims: true },
  { hints: ['<tool_call>'], opens: ['<tool_call>'], closes: ['</tool_call>'], body: json },
];

const SPOKEN = ['Here is my', "Here's my"];
/** Marks that most models which reason write. */
export const THINK = { opens: ['<think>'], closes: ['</think>'] } as const;

export const REASONING: readonly ReasoningSyntax[] = [
  { hints: ['<|start|>', '<|message|>'], opens: [], closes: MESSAGE_ENDS },
  { hints: ['<mm:think>'], opens: ['<mm:think>'], closes: ['</mm:think>'] },
  { hints: ['<seed:think>'], opens: ['<seed:think>'], closes: ['</seed:think>'] },
  { hints: ["'<|open|>'"], opens: tag('think'), closes: [...tag('think', 'close'), ...tag('response')] },
  { hints: ['[THINK]'], opens: ['[THINK]'], closes: ['[/THINK]'], quotesCalls: true },
  { hints: ['<REKA_IMG_TOKEN>'], ...THINK, quotesCalls: true },
  { hints: ['<|role_end|>', '</think>'], ...THINK, keepsSpace: true },
  { hints: ['<|START_THINKING|>'], opens: ['<|START_THINKING|>'], closes: ['<|END_THINKING|>'] },
  { hints: ['<|channel>'], opens: ['<|channel>thought\n', '<|channel>thought'], closes: ['<channel|>'] },
  { hints: ['<|inner_prefix|>'], opens: ['<|inner_prefix|>'], closes: ['<|inner_suffix|>'] },
  {
    ...{ hints: ['Here are my reasoning steps'], opens: ['Here are my reasoning steps:\n'], keepsOpen: true },
    closes: ['[BEGIN FINAL RESPONSE]'],
  },
  // Granite
  {
    ...{
      hints: ['<|start_of_role|>', '<response>'],
      opens: ['<think>', ...SPOKEN.map((start) => `${start} thought process:`)],
    },
    closes: ['</think>', ...SPOKEN.map((start) => `${start} response:`)],
  },
  // Solar
  { hints: ['<|think|>', '<|content|>'], opens: ['<|think|>'], closes: ['<|end|>'] },
];

/** Marks without a meaning of their own, by a text of the template. */
export const DROPPED: readonly { readonly hint: string; readonly marks: readonly string[] }[] = [
  { hint: '<|START_RESPONSE|>', marks: ['<|START_RESPONSE|>', '<|END_RESPONSE|>'] },
  { hint: '<|START_TEXT|>', marks: ['<|START_TEXT|>', '<|END_TEXT|>'] },
  { hint: '<|message|>', marks: MESSAGE_ENDS },
  { hint: "'<|open|>'", marks: [...tag('response'), ...tag('response', 'close'), ...tag('message', 'close')] },
  { hint: '<|channel>', marks: ['<channel|>'] },
  { hint: '<response>', marks: ['<response>', '</response>'] },
  // Hunyuan
  { hint: '<|startoftext|>', marks: ['<answer>', '\n</answer>', '</answer>'] },
  // Functionary 3.2
  { hint: '>>>all', marks: ['>>>all\n'] },
  { hint: '<|content|>', marks: ['<|begin|>assistant', '<|content|>', '<|end|>'] },
  { hint: '<|role_end|>', marks: ['<|role_end|>'] },
];
