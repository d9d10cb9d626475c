// Markdown of a model, who is a stranger: no HTML, no pictures from elsewhere, links to the web and to mail alone.
import './markdown.css';
import { type ComponentProps, memo, type ReactNode, useEffect, useRef, useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { safeAddress } from './safe-address.ts';

type Plugins = ComponentProps<typeof ReactMarkdown>['rehypePlugins'];

function Outward({ href, children }: { readonly href: string | undefined; readonly children: ReactNode }) {
  if (!href) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** A block of code; whoever uses a keyboard can scroll it. */
function Code({ children }: { readonly children?: ReactNode }) {
  const place = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard?.writeText(place.current?.textContent ?? '').then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <div className="chat-code">
      <button className="button small" type="button" onClick={copy} onBlur={() => setCopied(false)}>
        {isCopied ? 'Copied' : 'Copy'}
        <span className="hidden-text"> the code</span>
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways */}
      <pre ref={place} tabIndex={0}>
        {children}
      </pre>
    </div>
  );
}

/** Headings of an answer stand below those of the page. */
const COMPONENTS: Components = {
  a: ({ href, children }) => <Outward href={href}>{children}</Outward>,
  img: ({ src, alt }) => (
    <Outward href={typeof src === 'string' ? src : undefined}>{`Picture: ${alt || 'without a name'}`}</Outward>
  ),
  pre: ({ children }) => <Code>{children}</Code>,
  table: ({ children }) => (
    <div className="table-scroll">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => (
    <span role="img" aria-label={checked ? 'done' : 'to do'}>
      {checked ? '☑' : '☐'}
    </span>
  ),
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h5>{children}</h5>,
  h5: ({ children }) => <h6>{children}</h6>,
};

const REMARK = [remarkGfm];
const NONE: Plugins = [];
let highlighting: Plugins | undefined;

/** The colours of code are loaded when there is code. */
function usePlugins(hasCode: boolean): Plugins {
  const [plugins, setPlugins] = useState(highlighting);
  useEffect(() => {
    if (!hasCode || plugins) return;
    let isHere = true;
    void import('rehype-highlight').then(({ default: highlight }) => {
      highlighting = [[highlight, { detect: false }]];
      if (isHere) setPlugins(highlighting);
    });
    return () => {
      isHere = false;
    };
  }, [hasCode, plugins]);
  return hasCode ? (plugins ?? NONE) : NONE;
}

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const plugins = usePlugins(/```|~~~/.test(text));
  return (
    <ReactMarkdown
      remarkPlugins={REMARK}
      rehypePlugins={plugins ?? NONE}
      components={COMPONENTS}
      urlTransform={safeAddress}
    >
      {text}
    </ReactMarkdown>
  );
});
