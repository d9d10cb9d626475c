// The targets of `strata stack scan`: any mixture of files, standard input and names.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { fileError, usageError } from '../../errors.ts';
import { type DomainList, domainListOf, readDomainList } from './domain-list.ts';

/** None of these is a top-level domain. */
const LIST_FILE = /\.(?:txt|csv|tsv|list|lst|json|jsonl|md|gz|zip)$/i;
const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The domains of all targets, without duplicates. Invalid lines of a file are returned in `rejected`. Throws CommandError (exit code 2)
 * for a target that is neither a file nor a domain name.
 */
export async function readTargets(targets: readonly string[], stdin: Readable): Promise<DomainList> {
  const texts = new Map<string, string>();
  const rejected: DomainList['rejected'][number][] = [];
  for (const target of targets) {
    const list = await listOf(target, stdin);
    for (const [i, domain] of list.domains.entries())
      if (!texts.has(domain)) texts.set(domain, list.texts[i] ?? domain);
    rejected.push(...list.rejected);
  }
  return { domains: [...texts.keys()], texts: [...texts.values()], rejected };
}

async function listOf(target: string, stdin: Readable): Promise<DomainList> {
  if (target === '-') return readDomainList(stdin);
  // `https://example.com/about` is a URL from a browser, not a path.
  const isPath = !URL_START.test(target) && (/[/\\]/.test(target) || LIST_FILE.test(target));
  const found = await stat(target).catch((cause: unknown) => {
    if (isPath) throw fileError(target, cause);
    return undefined;
  });
  // A directory with the name of a domain does not hide the domain. Pipes (`<(…)` of a shell) are read as files.
  if (found && (isPath || !found.isDirectory())) {
    return readDomainList(createReadStream(target)).catch((cause: unknown) => {
      throw fileError(target, cause);
    });
  }
  const list = domainListOf([target]);
  const [bad] = list.rejected;
  if (bad) throw usageError(`'${bad.text}' is neither a file nor a domain: ${bad.message}`);
  return list;
}
