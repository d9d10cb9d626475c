// The filters of the search, with the words of the API said in full.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useLayoutEffect, useRef } from 'react';
import { formatName } from '../../ui/formats.ts';
import { CATEGORIES } from '../categories.ts';
import { SECTORS } from '../sectors.ts';

/** What stands in the address. */
export type SearchState = Readonly<
  Partial<Record<'q' | 'provider' | 'category' | 'confidence' | 'sector' | 'state' | 'flag' | 'offset', string>>
>;

type Words = readonly (readonly [value: string, name: string])[];

const named = (...values: readonly string[]): Words => values.map((value) => [value, formatName(value)] as const);

const CONFIDENCES = named('high', 'medium', 'low');
const STATES = named('active', 'parked', 'nonexistent');
const FLAGS: readonly (readonly [standard: string, Words])[] = [
  [
    'SPF',
    [
      ['spf_valid', 'SPF: valid'],
      ['spf_fail', 'SPF: others are refused (-all)'],
      ['spf_softfail', 'SPF: others are suspect (~all)'],
      ['spf_neutral', 'SPF: says nothing of others (?all)'],
      ['spf_pass', 'SPF: anyone may send (+all)'],
      ['spf_permerror', 'SPF: broken'],
      ['spf_measured', 'SPF: was measured'],
    ],
  ],
  [
    'DMARC',
    [
      ['dmarc_valid', 'DMARC: valid'],
      ['dmarc_reject', 'DMARC: asks to reject'],
      ['dmarc_quarantine', 'DMARC: asks to quarantine'],
      ['dmarc_none', 'DMARC: asks for nothing'],
      ['dmarc_effective_reject', 'DMARC: reject in effect'],
      ['dmarc_effective_quarantine', 'DMARC: quarantine in effect'],
      ['dmarc_effective_none', 'DMARC: nothing in effect'],
      ['dmarc_reporting', 'DMARC: wants reports'],
      ['dmarc_measured', 'DMARC: was measured'],
    ],
  ],
  [
    'Mail transport',
    [
      ['mta_sts', 'MTA-STS: mail only over TLS'],
      ['mta_sts_measured', 'MTA-STS: was measured'],
      ['tls_rpt', 'TLS-RPT: wants reports of failures'],
      ['tls_rpt_measured', 'TLS-RPT: was measured'],
      ['bimi', 'BIMI: shows a logo'],
      ['bimi_measured', 'BIMI: was measured'],
    ],
  ],
  [
    'DNS and TLS',
    [
      ['dnssec', 'DNSSEC: zone is signed'],
      ['dnssec_measured', 'DNSSEC: was measured'],
      ['caa', 'CAA: says who may issue certificates'],
      ['caa_measured', 'CAA: was measured'],
      ['tls_trusted', 'TLS: certificate is trusted'],
      ['tls_expired', 'TLS: certificate has expired'],
      ['tls_measured', 'TLS: was measured'],
    ],
  ],
];

interface FiltersProps {
  readonly filters: SearchState;
  readonly onApply: (filters: Record<string, string>) => void;
}

/** Applied together, since each search costs a request. */
export function Filters({ filters, onApply }: FiltersProps) {
  const navigate = useNavigate();
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()] as const);
    onApply(Object.fromEntries(given.filter(([, value]) => value !== '')));
  };
  return (
    <form className="card search-filters" onSubmit={apply} aria-label="Filters">
      <Field label="Part of the name" name="q" value={filters.q} placeholder="shop" />
      <Field label="Provider" name="provider" value={filters.provider} placeholder="Cloudflare" />
      <Choice label="Category" name="category" value={filters.category} words={named(...CATEGORIES)} />
      <Choice label="Confidence" name="confidence" value={filters.confidence} words={CONFIDENCES} />
      <Choice label="Sector" name="sector" value={filters.sector} words={named(...SECTORS)} />
      <Choice label="State" name="state" value={filters.state} words={STATES} />
      <Choice label="Posture" name="flag" value={filters.flag} groups={FLAGS} />
      <div className="actions">
        <button className="button primary" type="submit">
          Search
        </button>
        <button className="button" type="button" onClick={() => void navigate({ to: '/search', search: {} })}>
          Clear
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
}

function Field({ label, name, value, placeholder }: FieldProps & { readonly placeholder: string }) {
  const id = useId();
  return (
    <div className="search-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        defaultValue={value}
        placeholder={placeholder}
        maxLength={256}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
    </div>
  );
}

type ChoiceProps = FieldProps & { readonly words?: Words; readonly groups?: typeof FLAGS };

/** A value of the address that is none of the words stands as it is, so that the service can say so. */
function Choice({ label, name, value, words = [], groups = [] }: ChoiceProps) {
  const id = useId();
  const select = useRef<HTMLSelectElement>(null);
  // Preact takes `defaultValue` for options that stand in the select itself, and not for those of a group.
  useLayoutEffect(() => {
    if (select.current) select.current.value = value ?? '';
  }, [value]);
  const isKnown = [...words, ...groups.flatMap(([, found]) => found)].some(([word]) => word === value);
  return (
    <div className="search-field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name} ref={select}>
        <option value="">Any</option>
        {value !== undefined && !isKnown && <option value={value}>{value}</option>}
        <Options words={words} />
        {groups.map(([standard, found]) => (
          <optgroup key={standard} label={standard}>
            <Options words={found} />
          </optgroup>
        ))}
      </select>
    </div>
  );
}

function Options({ words }: { readonly words: Words }) {
  return words.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}
