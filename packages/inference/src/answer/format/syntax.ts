// How a family of models writes reasoning and tool calls, as data.

/** Maximum length of a tool's name, and of what stands between the mark of a call and its arguments. */
export const MAX_NAME = 256;
export const MAX_HEADER = 512;

/** A tag whose text up to `until` has a name: `<invoke name="add">`, `<function=add>`, `<arg_key>a</arg_key>`. */
export interface Tag {
  readonly open: string;
  readonly until: string;
}

export type CallBody =
  /** `{"name": …, "arguments": {…}}` or a list of such objects; `isKeyed`: also `{name: arguments}`. */
  | { readonly kind: 'json'; readonly isKeyed?: boolean }
  /**
   * A header, here without its space, with the name as its first group, then the object of the arguments. `written`: the
   * headers that a grammar writes, with `NAME` and, for a number, `#`.
   */
  | { readonly kind: 'named'; readonly header: RegExp; readonly written: readonly string[] }
  /** `[add(a=1), add(a=2)]`. */
  | { readonly kind: 'python' }
  /** `call:add{a:1,b:<escape>text<escape>}`. */
  | { readonly kind: 'braces'; readonly quote: string }
  | TagsBody;

/** Elements within elements. Values are text, typed by the tool's schema. */
export interface TagsBody {
  readonly kind: 'tags';
  readonly call: Tag;
  readonly callEnd: string;
  readonly param: Tag;
  /** Between the name of a parameter and its value. */
  readonly valueOpen?: string;
  /** `NAME` is replaced by the parameter's name. */
  readonly paramEnd: string;
  /** One line break on each side of a value is not part of it. */
  readonly isPadded?: boolean;
  /** Values may be elements again, each tag after this prefix. */
  readonly nested?: string;
  /** Values may be in `<![CDATA[…]]>`. */
  readonly hasCdata?: boolean;
  /** A call without its required arguments is text. */
  readonly isChecked?: boolean;
}

export interface CallSyntax {
  /** The template of such a model contains all of these; by default the first of `opens`. */
  readonly hints?: readonly string[];
  /** Marks before a call: around it or around a list of calls. */
  readonly opens: readonly string[];
  /** Beginnings of a call that has no mark, at the beginning of a line or the end of a message. */
  readonly bare?: readonly string[];
  /** Marks after a call; between calls too. */
  readonly closes: readonly string[];
  readonly body: CallBody;
  /** The space before a call belongs to its mark. */
  readonly trims?: boolean;
}

export interface ReasoningSyntax {
  readonly hints?: readonly string[];
  readonly opens: readonly string[];
  readonly closes: readonly string[];
  /** What opens it belongs to it. */
  readonly keepsOpen?: boolean;
  /** Space at its end belongs to it. */
  readonly keepsSpace?: boolean;
  /** Calls within reasoning are only thought of; otherwise a call ends it. */
  readonly quotesCalls?: boolean;
  /** An end without a beginning, before any text, is not shown. */
  readonly dropsStray?: boolean;
}

/** The format of one model's answers. */
export interface OutputFormat {
  readonly reasoning: ReasoningSyntax | undefined;
  /** Whether the template shows that the model may reason. */
  readonly mayReason: boolean;
  /** Whether the template shows how the model writes calls. */
  readonly hasKnownCalls: boolean;
  readonly calls: readonly CallSyntax[];
  /** Space before a call is not text. */
  readonly trimsCalls: boolean;
  /** Marks without a meaning of their own, never shown. */
  readonly dropped: readonly string[];
  /** Messages with a header each: `<|channel|>final<|message|>`. */
  readonly hasHeaders: boolean;
  /** Whether the headers name channels, as gpt-oss does. */
  readonly hasChannels: boolean;
  readonly held?: Hold;
}

/** Of an answer that a grammar holds. */
export interface Hold {
  /** Characters that begin a call without a mark, at the beginning of the text. */
  readonly bare: readonly string[];
  /** Text is JSON: marks in it are text. */
  readonly isJson: boolean;
}
export type HeldFormat = OutputFormat & { readonly held: Hold };
