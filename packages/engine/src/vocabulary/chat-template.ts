// Renders a conversation with the model's own template, in pieces that separate control tokens from user text.
import { type ChatPrompt, EngineError } from '../engine.ts';
import { type CompiledTemplate, compileTemplate } from '../jinja/compile-template.ts';
import { promptFor, withSystemInUserTurn } from './adapt-prompt.ts';
import { formsOf, type InputForm, templateInput } from './template-input.ts';

interface TemplatePiece {
  readonly text: string;
  /** Whether control tokens in it are interpreted. */
  readonly hasControl: boolean;
}

export interface TemplateOptions {
  /** Jinja, as in the model file. */
  readonly source: string;
  readonly bos: string;
  readonly eos: string;
  /** Texts that would control the model if they were interpreted. */
  readonly controls: readonly string[];
  /** For templates that state the date. */
  readonly now?: () => Date;
}

/** A numbered placeholder in the template's output. */
const MARK = /\uE000(\d+)\uE001/;
const MARK_BEGIN = '\uE000';

/** Throws EngineError `template-failed`, also when the template rejects the conversation. */
export function renderChat(prompt: ChatPrompt, options: TemplateOptions): readonly TemplatePiece[] {
  try {
    const template = compiled(options.source);
    const adapted = promptFor(prompt, options.source, (probe) => rendered(probe, template, options).text);
    return piecesOf(renderedOrFolded(adapted, template, options));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 200) : 'unknown';
    throw new EngineError('template-failed', `the model's chat template cannot render this conversation: ${reason}`, {
      cause,
    });
  }
}

interface Rendered {
  /** With placeholders. */
  readonly text: string;
  /** The control texts behind the placeholders. */
  readonly found: readonly string[];
}

function piecesOf({ text, found }: Rendered): readonly TemplatePiece[] {
  return text
    .split(MARK)
    .map((piece, i) =>
      i % 2 === 0 ? { text: piece, hasControl: true } : { text: found[Number(piece)] ?? '', hasControl: false },
    )
    .filter(({ text }) => text !== '');
}

/** A template that refuses the system role gets its text in the first user turn. */
function renderedOrFolded(prompt: ChatPrompt, template: CompiledTemplate, options: TemplateOptions): Rendered {
  try {
    return rendered(prompt, template, options);
  } catch (error) {
    const isRefused = error instanceof Error && /system/i.test(error.message);
    if (!isRefused || !prompt.messages.some(({ role }) => role === 'system' || role === 'developer')) throw error;
    return rendered(withSystemInUserTurn(prompt), template, options);
  }
}

/**
 * Templates disagree in the form that they expect (arguments as an object or as text …), and say so only by failing, or
 * by an output that no model was trained on: the first form without either is used.
 */
function rendered(prompt: ChatPrompt, template: CompiledTemplate, options: TemplateOptions): Rendered {
  let fallback: Rendered | undefined;
  let failure: unknown;
  for (const form of formsOf(prompt)) {
    try {
      const { text, found, printsNotation } = renderedAs(form, prompt, template, options);
      if (!printsNotation) return { text, found };
      fallback ??= { text, found };
    } catch (error) {
      failure ??= error;
    }
  }
  if (!fallback) throw failure;
  return fallback;
}

function renderedAs(form: InputForm, prompt: ChatPrompt, template: CompiledTemplate, options: TemplateOptions) {
  const { source, bos, eos, controls, now = () => new Date() } = options;
  // Control texts in the input are replaced by placeholders, and inserted into the template's output as plain text.
  const found: string[] = [];
  const { everywhere, inAnswers } = patternsOf(controls);
  const marking = (pattern: RegExp) => (text: string) =>
    text.replaceAll(pattern, (control) => `${MARK_BEGIN}${found.push(control) - 1}\uE001`);
  const input = templateInput(prompt, { form, source, mark: marking(everywhere), markAnswer: marking(inAnswers) });
  return { ...template.render({ bos_token: bos, eos_token: eos, add_generation_prompt: true, ...input }, now), found };
}

interface ControlPatterns {
  readonly everywhere: RegExp;
  /** Templates remove the reasoning of past answers by its marks, which end no turn. */
  readonly inAnswers: RegExp;
}

/** By the list of a vocabulary: some have thousands of control texts. */
const patterns = new WeakMap<readonly string[], ControlPatterns>();

function patternsOf(controls: readonly string[]): ControlPatterns {
  const known = patterns.get(controls);
  if (known) return known;
  const patternOf = (texts: readonly string[]) => new RegExp([...texts, MARK_BEGIN].map(RegExp.escape).join('|'), 'g');
  const made = {
    everywhere: patternOf(controls),
    inAnswers: patternOf(controls.filter((each) => !/think/i.test(each))),
  };
  patterns.set(controls, made);
  return made;
}

/** Templates that were parsed last. */
const parsed = new Map<string, CompiledTemplate>();
/** A process serves one model, or a few. */
const MAX_PARSED = 8;

function compiled(source: string): CompiledTemplate {
  const template = parsed.get(source) ?? compileTemplate(source);
  parsed.delete(source);
  parsed.set(source, template);
  for (const oldest of parsed.keys()) {
    if (parsed.size <= MAX_PARSED) break;
    parsed.delete(oldest);
  }
  return template;
}
