// Whether an observed product is affected by an advisory.
import { type Advisory, type Claim, type ProductKey, RANGE_SOURCES, type RangeSource } from '../advisory.ts';
import { exact, joinRanges } from '../versions/ranges.ts';
import { affectedIn, type Configuration, compileConfiguration, rangeTextsFor } from './configuration.ts';
import { type ObservedProduct, type PreparedProduct, prepare } from './prepared-product.ts';
import { affectedUnder, compileProductClaim, type ProductRanges } from './product-claim.ts';
import { BACKPORT, CONDITION, FALSE, NO_RANGE, NO_VERSION, or, TRUE, type Truth } from './truth.ts';

export type Reason =
  /** In range, and all other conditions of the advisory are known to hold. */
  | 'in_range'
  /** Certainly in no affected range, or on a platform that is certainly not affected. */
  | 'out_of_range'
  /** The advisory does not name the product, or only as the environment of another product. */
  | 'other_product'
  | 'no_version'
  /** The publishers give no comparable range, or the version is truncated: `2` is any 2.x. */
  | 'no_range'
  /** In range, but only together with a condition that was not observed. */
  | 'condition'
  /** In range, but distributions backport fixes to old versions without a new number. */
  | 'backport';

export interface Judgement {
  /** `affected` only if a version was observed and is in range; `possible` if it cannot be decided. */
  readonly verdict: 'affected' | 'possible' | 'unaffected';
  readonly reason: Reason;
  /** The source whose ranges decided or, if none could, whose ranges are shown; null without ranges. */
  readonly rangeSource: RangeSource | null;
  /** The text of this product's ranges, `>= 1.18.0, < 1.25.3`; null without ranges. */
  readonly range: string | null;
}

/** An advisory with parsed names and versions. It keeps no reference to the advisory except product names. */
export interface CompiledAdvisory {
  /** In the order of `RANGE_SOURCES`. */
  readonly sources: readonly { readonly source: RangeSource; readonly claims: readonly CompiledClaim[] }[];
}

type CompiledClaim = ProductRanges | Configuration;

const compiled = new WeakMap<Advisory['claims'], CompiledAdvisory>();

/** Compiles an advisory's claims; the caller may discard the result after judging. */
export function compileAdvisory({ claims }: Pick<Advisory, 'claims'>): CompiledAdvisory {
  const sources = RANGE_SOURCES.map((source) => ({
    source,
    claims: claims.filter((claim) => claim.source === source).map(compileClaim),
  }));
  return { sources: exact(sources.filter((source) => source.claims.length > 0)) };
}

function compileClaim(claim: Claim): CompiledClaim {
  return claim.kind === 'product' ? compileProductClaim(claim) : compileConfiguration(claim);
}

/** Pure. The claims are evaluated in the order of `RANGE_SOURCES`; the first that decides counts. */
export function judge(advisory: Pick<Advisory, 'claims'>, product: ObservedProduct): Judgement {
  let ready = compiled.get(advisory.claims);
  if (ready === undefined) {
    ready = compileAdvisory(advisory);
    compiled.set(advisory.claims, ready);
  }
  return judgeCompiled(ready, product);
}

/** The result of `judge` for a compiled advisory. */
export function judgeCompiled({ sources }: CompiledAdvisory, product: ObservedProduct): Judgement {
  const prepared = prepare(product);
  let rangeTexts: readonly string[] | undefined;
  let worded: RangeSource | null = null;
  for (const { source, claims } of sources) {
    const result = evaluate(claims, prepared);
    if (result === undefined) continue;
    if (result.truth !== NO_VERSION && result.truth !== NO_RANGE) {
      return { ...VERDICTS[result.truth], rangeSource: source, range: joinRanges(result.rangeTexts) };
    }
    if (rangeTexts === undefined || rangeTexts.length === 0) {
      rangeTexts = result.rangeTexts;
      worded = rangeTexts.length === 0 ? null : source;
    }
  }
  if (rangeTexts === undefined)
    return { verdict: 'unaffected', reason: 'other_product', rangeSource: null, range: null };
  const reason = product.version === null ? 'no_version' : 'no_range';
  return { verdict: 'possible', reason, rangeSource: worded, range: joinRanges(rangeTexts) };
}

const VERDICTS: Record<Exclude<Truth, typeof NO_VERSION | typeof NO_RANGE>, Pick<Judgement, 'verdict' | 'reason'>> = {
  [FALSE]: { verdict: 'unaffected', reason: 'out_of_range' },
  [CONDITION]: { verdict: 'possible', reason: 'condition' },
  [BACKPORT]: { verdict: 'possible', reason: 'backport' },
  [TRUE]: { verdict: 'affected', reason: 'in_range' },
};

/** The result of the claims of one source, as alternatives; undefined if none names the product. */
function evaluate(
  claims: readonly CompiledClaim[],
  prepared: PreparedProduct,
): { readonly truth: Truth; readonly rangeTexts: readonly string[] } | undefined {
  let truth: Truth = FALSE;
  let rangeTexts: readonly string[] | undefined;
  for (const claim of claims) {
    const result = rangeTextsOf(claim, prepared);
    if (result === undefined) continue;
    rangeTexts = rangeTexts === undefined ? result : [...rangeTexts, ...result];
    truth = or(truth, claim.kind === 'product' ? affectedUnder(claim, prepared) : affectedIn(claim, prepared));
  }
  return rangeTexts && { truth, rangeTexts };
}

/** The texts of the claim's ranges for the product; undefined if the claim does not name it. */
function rangeTextsOf(claim: CompiledClaim, prepared: PreparedProduct): readonly string[] | undefined {
  if (claim.kind === 'configuration') return rangeTextsFor(claim, prepared);
  return prepared.keys.some((key) => claim.products.includes(key)) ? claim.rangeTexts : undefined;
}

/** All products that the advisory names as vulnerable, each once. */
export function productKeysOf({ claims }: Pick<Advisory, 'claims'>): readonly ProductKey[] {
  return [...new Set(claims.flatMap(({ products }) => products))];
}
