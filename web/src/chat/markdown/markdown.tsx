// Untrusted Markdown of a model: no HTML, no external images, links to http(s) and mailto only.
import './markdown.css';
import { type ComponentProps, memo, type ReactNode, useEffect, useRef, useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CopyButton } from '../../ui/controls/button.tsx';
import { ExternalLink } from '../../ui/external-link.tsx';

type Plugins = ComponentProps<typeof ReactMarkdown>['rehypePlugins'];

/** A code block, scrollable with the keyboard. */
function Code({ children }: { readonly children?: ReactNode }) {
  const pre = useRef<HTMLPreElement>(null);
  return (
    <div className="chat-code">
      <CopyButton text={() => pre.current?.textContent ?? ''} label="Copy code" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls horizontally */}
      <pre ref={pre} tabIndex={0}>
        {children}
      </pre>
    </div>
  );
}

/** Headings of an answer rank below those of the page. */
const COMPONENTS: Components = {
  a: ({ href, children }) => <ExternalLink href={href}>{children}</ExternalLink>,
  img: ({ src, alt }) => (
    <ExternalLink href={typeof src === 'string' ? src : undefined}>{`Image: ${alt || 'no description'}`}</ExternalLink>
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

/** Syntax highlighting is loaded only if the text has code. */
function usePlugins(hasCode: boolean): Plugins {
  const [plugins, setPlugins] = useState(highlighting);
  useEffect(() => {
    if (!hasCode || plugins) return;
    let isMounted = true;
    void import('rehype-highlight').then(({ default: highlight }) => {
      highlighting = [[highlight, { detect: false }]];
      if (isMounted) setPlugins(highlighting);
    });
    return () => {
      isMounted = false;
    };
  }, [hasCode, plugins]);
  return (hasCode && plugins) || NONE;
}

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const plugins = usePlugins(/```|~~~/.test(text));
  return (
    <ReactMarkdown remarkPlugins={REMARK} rehypePlugins={plugins} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});
