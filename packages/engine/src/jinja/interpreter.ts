// A Jinja interpreter that agrees with the one of Python's transformers: @huggingface/jinja parses, and evaluates what
// is not overridden here (jinja.palletsprojects.com/en/stable/templates).
import { Environment, Interpreter } from '@huggingface/jinja';
import { filters, testOf } from './filters.ts';
import {
  Bool,
  compare,
  Float,
  Integer,
  is,
  isEqual,
  isIn,
  isNumber,
  isTrue,
  itemsOf,
  List,
  Mapping,
  methodOf,
  None,
  nameOf,
  percentFormat,
  Text,
  textOf,
  tuple,
  Undefined,
  type Value,
  wrap,
} from './values.ts';

/** A node of the syntax tree; its type decides which of these it has. */
export interface Node {
  readonly type: string;
  readonly value: string & readonly Node[] & ReadonlyMap<Node, Node>;
  readonly operator: { readonly value: string };
  readonly name: { readonly value: string };
  readonly left: Node;
  readonly right: Node;
  readonly object: Node;
  readonly property: Node;
  readonly computed: boolean;
  readonly operand: Node;
  readonly test: Node;
  readonly negate: boolean;
  readonly iterable: Node;
  readonly loopvar: Node;
  readonly lhs: Node;
  readonly callee: Node;
  readonly args: readonly Node[];
  readonly body: readonly Node[];
  readonly defaultBlock: readonly Node[];
}

/** The parts of the library's interpreter that are used and overridden here; the version of the library is fixed. */
type Overridden = new (
  globals: Environment,
) => {
  evaluate(node: Node | undefined, scope: Environment): Value;
  evaluateBlock(nodes: readonly Node[], scope: Environment): Value;
  evaluateArguments(nodes: readonly Node[], scope: Environment): [Value[], Map<string, Value>];
  applyFilter(value: Value, filter: Node, scope: Environment): Value;
  evaluateTestExpression(node: Node, scope: Environment): Value;
  evaluateBinaryExpression(node: Node, scope: Environment): Value;
  evaluateMemberExpression(node: Node, scope: Environment): Value;
  evaluateFor(node: Node, scope: Environment): Value;
  evaluateMacro(node: Node, scope: Environment): Value;
};

/** `{% break %}` or `{% continue %}`, with the output of its iteration so far. */
class LoopControl extends Error {
  output = '';
  readonly ends: boolean;
  constructor(ends: boolean) {
    super('break or continue outside a loop');
    this.ends = ends;
  }
}

export class PythonInterpreter extends (Interpreter as unknown as Overridden) {
  /** Whether a mapping or None was output in Python's notation: nothing that a model was trained on. */
  printsNotation = false;

  override evaluate(node: Node | undefined, scope: Environment): Value {
    switch (node?.type) {
      case 'Break':
      case 'Continue':
        throw new LoopControl(node.type === 'Break');
      case 'TupleLiteral':
        return tuple(node.value.map((each) => this.evaluate(each, scope)));
      case 'ObjectLiteral': {
        const entries = [...(node.value as ReadonlyMap<Node, Node>)];
        return new Mapping(
          new Map(entries.map(([name, each]) => [this.evaluate(name, scope).value, this.evaluate(each, scope)])),
        );
      }
      default:
        return super.evaluate(node, scope);
    }
  }

  override evaluateBlock(nodes: readonly Node[], scope: Environment): Value {
    let output = '';
    try {
      for (const node of nodes) {
        const value = this.evaluate(node, scope);
        // Statements evaluate to None; an expression that does so is output.
        if (!is(value, None) || !STATEMENTS.has(node.type)) output += this.#output(value);
      }
    } catch (error) {
      if (error instanceof LoopControl) error.output = output + error.output;
      throw error;
    }
    return new Text(output);
  }

  #output(value: Value): string {
    if (is(value, Mapping) || is(value, None)) this.printsNotation = true;
    return textOf(value);
  }

  override applyFilter(value: Value, filter: Node, scope: Environment): Value {
    const isCall = filter.type === 'CallExpression';
    const { value: name } = isCall ? filter.callee : filter;
    if (!Object.hasOwn(filters, name)) return super.applyFilter(emptyOf(value, name), filter, scope);
    const [args, named] = isCall ? this.evaluateArguments(filter.args, scope) : [[], new Map<string, Value>()];
    return this.#filter(name, value, args, named);
  }

  #filter(name: string, value: Value, args: readonly Value[], named: ReadonlyMap<string, Value>): Value {
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (name === 'string') this.#output(value);
    if (filter)
      return filter({ value, args, named, apply: (other, each, rest) => this.#filter(other, each, rest, new Map()) });
    return super.applyFilter(value, { type: 'Identifier', value: name } as unknown as Node, new Environment());
  }

  override evaluateTestExpression(node: Node, scope: Environment): Value {
    const isMet = testOf(node.test.value)(this.evaluate(node.operand, scope));
    return new Bool(node.negate ? !isMet : isMet);
  }

  override evaluateBinaryExpression(node: Node, scope: Environment): Value {
    const operator = node.operator.value;
    const left = this.evaluate(node.left, scope);
    if (operator === 'and' || operator === 'or')
      return isTrue(left) === (operator === 'and') ? this.evaluate(node.right, scope) : left;
    const right = this.evaluate(node.right, scope);
    switch (operator) {
      case '==':
        return new Bool(isEqual(left, right));
      case '!=':
        return new Bool(!isEqual(left, right));
      case 'in':
        return new Bool(isIn(left, right));
      case 'not in':
        return new Bool(!isIn(left, right));
      case '~':
        return new Text(this.#output(left) + this.#output(right));
      case '<':
        return new Bool(compare(left, right) < 0);
      case '<=':
        return new Bool(compare(left, right) <= 0);
      case '>':
        return new Bool(compare(left, right) > 0);
      case '>=':
        return new Bool(compare(left, right) >= 0);
      default:
        return arithmetic(operator, left, right);
    }
  }

  override evaluateMemberExpression(node: Node, scope: Environment): Value {
    if (node.computed && node.property.type === 'SliceExpression') return super.evaluateMemberExpression(node, scope);
    const object = this.evaluate(node.object, scope);
    const property = node.computed ? this.evaluate(node.property, scope) : wrap(node.property.value);
    if (is(object, Undefined)) throw new Error(`'${node.object.value}' is undefined`);
    const { value: name } = property;
    const item = () => {
      if (object.value instanceof Map) return object.value.get(name);
      if (!isNumber(property)) return undefined;
      const found = is(object, Text) ? [...object.value].at(name) : object.value?.at?.(name);
      return typeof found === 'string' ? wrap(found) : found;
    };
    const attribute = () => (is(property, Text) ? methodOf(object, name) : undefined);
    return (node.computed ? (item() ?? attribute()) : (attribute() ?? item())) ?? new Undefined();
  }

  override evaluateFor(node: Node, scope: Environment): Value {
    const { iterable: given, loopvar, body, defaultBlock } = node;
    const isFiltered = given.type === 'SelectExpression';
    const inScope = (item: Value) => bind(new Environment(scope), loopvar, item);
    const items = itemsOf(this.evaluate(isFiltered ? given.lhs : given, scope)).filter(
      (item) => !isFiltered || isTrue(this.evaluate(given.test, inScope(item))),
    );
    if (items.length === 0) return this.evaluateBlock(defaultBlock, new Environment(scope));
    let output = '';
    for (const [i, item] of items.entries()) {
      const iteration = inScope(item);
      iteration.setVariable('loop', loopOf(items, i) as never);
      try {
        output += this.evaluateBlock(body, iteration).value;
      } catch (error) {
        if (!(error instanceof LoopControl)) throw error;
        output += error.output;
        if (error.ends) break;
      }
    }
    return new Text(output);
  }

  /** A macro sees the scope in which it is defined, not the one in which it is called. */
  override evaluateMacro(node: Node, scope: Environment): Value {
    const none = super.evaluateMacro(node, scope);
    const macro = scope.lookupVariable(node.name.value) as { value: (args: Value[], from: Environment) => Value };
    const call = macro.value;
    macro.value = (args, from) => {
      const own = new Environment(scope);
      if (from.variables.has('caller')) own.setVariable('caller', from.lookupVariable('caller'));
      return call(args, own);
    };
    return none;
  }
}

const STATEMENTS = new Set(['Set', 'If', 'For', 'Macro', 'CallStatement', 'FilterStatement', 'Comment']);
/** The library's filters refuse undefined; to those of Jinja it is empty. */
function emptyOf(value: Value, filter: string): Value {
  if (!is(value, Undefined) || filter === 'tojson') return value;
  return filter === 'unique' ? new List([]) : new Text('');
}

function arithmetic(operator: string, left: Value, right: Value): Value {
  const isNumeric = [left, right].every((each) => isNumber(each) || is(each, Bool));
  const result = isNumeric ? numbers[operator]?.(Number(left.value), Number(right.value)) : undefined;
  if (result !== undefined)
    return operator === '/' || is(left, Float) || is(right, Float) ? new Float(result) : new Integer(result);
  if (operator === '+' && is(left, Text) && is(right, Text)) return new Text(left.value + right.value);
  if (operator === '+' && is(left, List) && is(right, List)) return new List([...left.value, ...right.value]);
  if (operator === '%' && is(left, Text))
    return new Text(percentFormat(left.value, is(right, List) ? right.value : [right]));
  if (operator === '*' && is(left, Text) && is(right, Integer) && left.value.length * right.value < 1e6)
    return new Text(left.value.repeat(Math.max(0, right.value)));
  throw new Error(`unsupported operands for ${operator}: ${nameOf(left)} and ${nameOf(right)}`);
}

const numbers: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '//': (a, b) => Math.floor(a / b),
  '%': (a, b) => a - b * Math.floor(a / b),
  '**': (a, b) => a ** b,
};

/** Binds the loop's variable, or its variables. */
function bind(scope: Environment, target: Node, item: Value): Environment {
  if (target.type !== 'TupleLiteral') {
    scope.setVariable(target.value, item as never);
    return scope;
  }
  const items = itemsOf(item);
  if (items.length !== target.value.length)
    throw new Error(`${target.value.length} variables for ${items.length} values`);
  for (const [i, each] of [...(target.value as readonly Node[])].entries())
    scope.setVariable(each.value, items[i] as never);
  return scope;
}

function loopOf(items: readonly Value[], i: number): Value {
  const facts = {
    index: i + 1,
    index0: i,
    revindex: items.length - i,
    revindex0: items.length - i - 1,
    first: i === 0,
    last: i === items.length - 1,
    length: items.length,
  };
  const loop = wrap(facts);
  loop.value.set('previtem', items[i - 1] ?? new Undefined());
  loop.value.set('nextitem', items[i + 1] ?? new Undefined());
  return loop;
}
