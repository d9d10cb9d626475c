// NVD's applicability statements: AND, OR and negation over CPE criteria, judged for one observed product.
import type { ConfigurationClaim, ConfigurationNode, CpeCriterion } from '../advisory.ts';
import { exact } from '../versions/ranges.ts';
import { type Criterion, compileCriterion, isOf, likenessOf, meets, unite } from './criterion.ts';
import type { PreparedProduct } from './prepared-product.ts';
import { and, CONDITION, FALSE, or, TRUE, type Truth } from './truth.ts';

/** Negations are pushed down to the criteria. */
interface Node {
  readonly kind: 'all' | 'any';
  readonly children: readonly Statement[];
}
/** `unknown` replaces statements that are nested too deeply. */
type Statement = Node | Criterion | { readonly kind: 'unknown' };

export interface Configuration {
  readonly kind: 'configuration';
  readonly root: Statement;
  /** The vulnerable criteria, which name products. */
  readonly vulnerable: readonly Criterion[];
}

/** NVD's own statements have two levels. */
const MAX_DEPTH = 16;

export function compileConfiguration({ root }: ConfigurationClaim): Configuration {
  const statement = compileNode(root, { isNegated: false, depth: 0 });
  return { kind: 'configuration', root: statement, vulnerable: exact(vulnerableOf(statement)) };
}

interface Context {
  readonly isNegated: boolean;
  readonly depth: number;
}

function compileStatement(child: ConfigurationNode | CpeCriterion, context: Context): Statement {
  return child.kind === 'cpe' ? compileCriterion(child, context.isNegated) : compileNode(child, context);
}

/** De Morgan: a negated node becomes the other operator over negated children. */
function compileNode(node: ConfigurationNode, { isNegated, depth }: Context): Statement {
  if (depth > MAX_DEPTH) return { kind: 'unknown' };
  const context = { isNegated: isNegated !== node.isNegated, depth: depth + 1 };
  const kind = (node.operator === 'OR') === context.isNegated ? 'all' : 'any';
  const statements = node.children.map((child) => compileStatement(child, context));
  const children = kind === 'any' ? merge(statements) : statements;
  const [only] = children;
  return children.length === 1 && only !== undefined ? only : { kind, children };
}

/** Alternatives that differ only in their versions become one criterion. */
function merge(children: readonly Statement[]): readonly Statement[] {
  const alike = Map.groupBy(children, (child) => (child.kind === 'criterion' ? (likenessOf(child) ?? child) : child));
  return exact(
    [...alike.values()].flatMap((group): readonly Statement[] => {
      const criteria = group.filter((child) => child.kind === 'criterion');
      return criteria.length > 1 ? unite(criteria) : group;
    }),
  );
}

function vulnerableOf(statement: Statement): Criterion[] {
  switch (statement.kind) {
    case 'criterion':
      return statement.isVulnerable ? [statement] : [];
    case 'unknown':
      return [];
    case 'all':
    case 'any':
      return statement.children.flatMap(vulnerableOf);
    default:
      throw new Error(`no statement ${statement satisfies never}`);
  }
}

/** The texts of the product's ranges; undefined if no vulnerable criterion names it. */
export function rangeTextsFor({ vulnerable }: Configuration, prepared: PreparedProduct): readonly string[] | undefined {
  const own = vulnerable.filter((criterion) => isOf(criterion, prepared));
  if (own.length === 0) return undefined;
  // The versions of a negated criterion are the unaffected ones.
  return own.flatMap(({ rangeTexts, isNegated }) => (isNegated ? [] : rangeTexts));
}

/**
 * Whether the product is affected: it meets a vulnerable criterion of its own, and the other conditions of that hold.
 */
export function affectedIn({ root }: Configuration, prepared: PreparedProduct): Truth {
  return affectedBy(root, prepared);
}

/**
 * Unlike in `holds`, other products in an OR do not count: their vulnerability does not affect this one. In an AND no child
 * is affected to a higher degree than it holds, so the minimum over all children that hold is sufficient.
 */
function affectedBy(statement: Statement, prepared: PreparedProduct): Truth {
  switch (statement.kind) {
    case 'criterion':
      return statement.isVulnerable && isOf(statement, prepared) ? meets(statement, prepared) : FALSE;
    case 'unknown':
      return FALSE;
    case 'any':
      return anyAffected(statement, prepared);
    case 'all':
      return and(anyAffected(statement, prepared), holds(statement, prepared));
    default:
      throw new Error(`no statement ${statement satisfies never}`);
  }
}

function anyAffected({ children }: Node, prepared: PreparedProduct): Truth {
  return children.reduce<Truth>((truth, child) => or(truth, affectedBy(child, prepared)), FALSE);
}

function holds(statement: Statement, prepared: PreparedProduct): Truth {
  switch (statement.kind) {
    case 'criterion':
      return meets(statement, prepared);
    case 'unknown':
      return CONDITION;
    case 'any':
      return statement.children.reduce<Truth>((truth, child) => or(truth, holds(child, prepared)), FALSE);
    case 'all':
      return statement.children.reduce<Truth>((truth, child) => and(truth, holds(child, prepared)), TRUE);
    default:
      throw new Error(`no statement ${statement satisfies never}`);
  }
}
