/** Response in a visitor's browser. */
interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A simulated browser that stores cookies and does not follow redirects automatically. */
export class Visitor {
  readonly #origin: string;
  readonly cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
    return this.#ask(path, { headers });
  }

  post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    return this.#ask(path, { method: 'POST', body: new URLSearchParams(form), headers });
  }

  /** Submits a form. Asserts a redirect and returns its location. */
  async posted(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const { status, headers, text } = await this.post(path, form);
    if (status !== 303) throw new Error(`${status} instead of a redirect: ${text}`);
    return headers.get('location')!;
  }

  async #ask(path: string, init: RequestInit): Promise<Seen> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#origin + path, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      this.cookies.set(name!, value!);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** Form values, as typed by a borrower, that match many offers. */
export const goodAnswers = {
  loan_amount: '$10,000',
  loan_purpose: 'major_purchase',
  credit_score_range: '750-799',
  annual_income: '120 000',
  employment_status: 'employed',
  state: 'CA',
} as const;
