import type { BriefType, Expertise } from "./classification.ts";

/** Phrases by weight. */
type Weighed = Readonly<Record<number, string>>;

/**
 * The vocabulary of the rules: English, lower case, without hyphens, separated by commas. A star stands for any ending:
 * "migrat*". For each kind of meaning the longest phrase at a position counts, and hides shorter ones within it.
 */
export interface Words {
  /** 3 and more: the brief is certainly about it. 1: the brief may only mention it. */
  readonly type: Readonly<Record<BriefType, Weighed>>;
  /** Needed from 2 on. 3 is its name, which a brief can refuse: "no frontend". */
  readonly expertise: Readonly<Record<Expertise, Weighed>>;
  /** Positive: much work. Negative: little work. */
  readonly size: readonly (readonly [weight: number, phrases: string])[];
  readonly risk: Readonly<Record<string, string>>;
  /** Looks like a sign but is not: "error handling" is not a bug. */
  readonly nothing: string;
}

export const words: Words = {
  type: {
    "bug-fix": {
      4: `fix, fixes, fixing, bugfix, hotfix`,
      3: `bug, bugs, defect, defects, broken, regression, crash, crashes, crashing, crashed, not working,
        not work, stopped working, no longer`,
      2: `fails, failing, failed, wrong, wrongly, incorrect, incorrectly, throws, exception, hangs,
        freezes, deadlock, race condition, stack trace, 500 error, error 500, null pointer, memory leak,
        sent twice, charged twice, shown twice, off by one, times out, corrupted`,
      1: `error, errors, does not, doesn't, do not, don't, cannot, can't, won't, repair, issue, broke`,
    },
    refactoring: {
      3: `refactor*, restructur*, clean up, cleanup, technical debt, tech debt, modulari*, decoupl*,
        dead code, duplicate code, rewrite, port the code, convert the code, without changing behavior,
        without changing the behavior, without changing behaviour`,
      2: `simplify, consolidate, untangle, upgrade, modernize, modernise, split up, migrat*,
        database migration, migrate data, data migration, schema migration, move off, optimize, optimise,
        speed up, improve performance, improve the performance`,
      1: `rename`,
    },
    documentation: {
      3: `document, documentation, docs, readme, tutorial, user manual, user guide, faq, api reference,
        api docs, api documentation, runbook, handbook, how to guide`,
      2: `guide, changelog, release notes, onboarding guide, explain, glossary, write up`,
    },
    research: {
      2: `research, investigate, evaluate, evaluation, compare, comparison, feasibility, spike, find out,
        assess, assessment, explore, recommend, recommendation, trade offs, study, analyze, analyse,
        pros and cons, which database, which framework, benchmark, audit, review`,
      1: `options, analysis, proposal, report`,
    },
    infrastructure: {
      3: `ci, cd, ci pipeline, build pipeline, deployment pipeline, github actions, infrastructure,
        terraform, kubernetes, k8s, helm, ansible, jenkins, gitlab ci, deploy, deploys, deploying,
        containeri*, dockeri*, auto scaling, autoscal*, provision*, pulumi, load balancer,
        staging environment`,
      2: `deployment, monitoring, observability, alerting, prometheus, grafana, backups, docker, nginx,
        cluster, cdn, dns, secrets management, backup`,
    },
    testing: {
      3: `test coverage, code coverage, unit tests, unit test, integration tests, test plan, e2e tests,
        end to end tests, test suite, load test, load tests, flaky test, flaky tests`,
      2: `smoke tests, acceptance tests, regression tests`,
      1: `tests, test, coverage, playwright, cypress`,
    },
    feature: {
      3: `documentation website, documentation site, documentation portal`,
      2: `add, build, create, implement, develop, introduce, launch, write, make, set up, provide, prepare,
        new feature, we need a, we need an, we want a, we want an, i need a, i need an, i want a, i want an`,
      1: `adds, adding, allow, allows, enable, support, let users, want to, new, feature, extend, app, application,
        website, site, tool, service, system, platform, api, bot, game, shop, prototype, proof of concept,
        poc, portal, marketplace, as a user, cli, web app, mvp, mobile app, landing page, dashboard, audit log,
        audit trail`,
    },
  },
  expertise: {
    backend: {
      3: `backend, back end, server, servers, server side, api, apis, rest api`,
      2: `graphql, grpc, endpoint, endpoints, microservice, microservices, service, services, queue,
        worker, workers, webhook*, cli, command line, script, scripts, library, package, sdk, bot, node,
        node.js, python, golang, java, rust, php, ruby, django, flask, fastapi, express.js, app,
        application, web app, web application, website, portal, shop, marketplace, platform, payment,
        payments, checkout, billing, invoice*, subscription*, import, export, parser, login, log in,
        sign up, authentication, notification*, email, emails, cache, caching, system, daemon, cron job,
        scheduler, search engine`,
      1: `business logic, integration, integrate, sync, synchroni*, upload*, module, function`,
    },
    frontend: {
      3: `frontend, front end, ui, user interface, web ui`,
      2: `react, vue, angular, svelte, next.js, css, html, browser, page, pages, dashboard, spa, form,
        forms, button, buttons, component, components, screen, screens, modal, widget, app, web app,
        web application, website, site, landing page, home page, mobile app, mobile, ios, android,
        responsive, dark mode, chart, charts, layout, portal, shop, marketplace, navigation, dropdown,
        tooltip, game, as a user, as a customer, as a visitor`,
      1: `click, clicks, clicking, display, displays, shown, style, styles, icon, banner, menu`,
    },
    database: {
      3: `database, databases, db, sql, persistence`,
      2: `postgres, postgresql, mysql, mariadb, sqlite, mongodb, redis, oracle, schema, data model, orm,
        data warehouse, etl, data pipeline, bigquery, snowflake, replica, sql query, sql queries,
        slow query, slow queries, query, queries, index, indexes, indices, tables, table schema,
        database migration, database migrations, schema migration, data migration, migrate data,
        transactions, inventory, marketplace, which database, rows, records`,
      1: `migrat*, persist*, stored, column, columns, reporting, analytics, multi tenant`,
    },
    security: {
      3: `security, authentication, authorization, authorisation, auth, login, log in`,
      2: `secure, oauth, oauth2, sso, saml, jwt, password, passwords, encrypt*, gdpr, hipaa, pci,
        compliance, vulnerab*, cve, penetration test, permissions, access control, rbac, xss, csrf,
        sql injection, mfa, two factor, 2fa, tls, certificate, certificates, secrets, secrets management,
        audit log, payment, payments, credit card, credit cards, api keys, personal data, patient data`,
      1: `sign up, token, tokens, roles, accounts, private, sensitive, audit, multi tenant, checkout`,
    },
    ux: {
      3: `ux, user experience`,
      2: `wireframe*, mockup*, mock up*, usability, accessib*, wcag, a11y, figma, user flow, user flows,
        user research, redesign*, visual design, design system, user journey*, landing page, onboarding flow, intuitive, easy to use, information architecture`,
      1: `mobile app, onboarding, look and feel, user friendly, responsive, dark mode, shop, web app`,
    },
    devops: {
      3: `ci, cd, deploy, deployment, infrastructure, docker, cloud, monitoring`,
      2: `ci pipeline, build pipeline, deployment pipeline, github actions, gitlab ci, jenkins, deploys,
        deploying, dockeri*, kubernetes, k8s, terraform, helm, aws, azure, gcp, nginx, google cloud,
        prometheus, grafana, observability, alerting, ansible, load balancer, autoscal*, auto scaling,
        provision*, pulumi, containeri*, staging environment, backup, backups, zero downtime, no downtime,
        cluster, dns`,
    },
    docs: {
      3: `documentation, docs, document, readme, user guide`,
      2: `tutorial, user manual, api reference, api docs, api documentation, runbook, handbook, faq, guide,
        how to guide, changelog, glossary, release notes, onboarding guide, write up, help center,
        help pages`,
    },
    testing: {
      3: `test, tests, testing, unit tests, unit test, qa`,
      2: `test coverage, code coverage, regression test, integration tests, end to end tests, e2e tests,
        test suite, load test, load tests, test plan, flaky test, flaky tests, smoke tests, playwright,
        cypress, regression tests, acceptance tests`,
    },
  },
  size: [
    [
      2,
      `platform, marketplace, enterprise, microservices, distributed, large, complex, multi tenant,
        end to end solution, from scratch, millions, high availability, complete system, full stack,
        several teams`,
    ],
    [
      1,
      `app, application, web app, web application, website, game, system, scalable, scale, real time,
        multiple, mobile app, admin, reporting, portal, shop, thousands, legacy, monolith`,
    ],
    [
      -2,
      `typo, small, tiny, minor, simple, quick, trivial, one line, one page, minimal, just a,
        proof of concept, poc, prototype, hello world, small change, wording`,
    ],
  ],
  risk: {
    "Payments: a mistake costs money and falls under the rules of card companies.": `payment, payments, credit card, credit cards, billing, invoice*, checkout, checkout page,
       charged twice, pci, subscription*`,
    "Personal data: privacy rules apply to what is stored, shown and deleted.": `personal data, patient data, gdpr, hipaa, health records, medical, customer data, accounts, privacy`,
    "Access control: a mistake opens the system to people who should not be in it.": `login, log in, password, passwords, authentication, authorization, auth, oauth, oauth2, sso, saml,
       jwt, permissions, rbac, access control, roles, two factor, 2fa, mfa, multi tenant, api keys,
       secrets, secrets management`,
    "Stored data changes: what is lost or garbled may not come back.": `migrat*, data migration, migrate data, database migration, database migrations, schema migration,
       delete, drop, data loss, production data, backup, backups, restore`,
    "Load: what works for one user may not work for all at once.": `millions, thousands, high traffic, scalable, scale, real time, latency, throughput, load balancer,
       autoscal*, peak`,
    "Others rely on it: a change of behavior breaks what was built on it.": `backward compatible, backwards compatible, breaking change, breaking changes, public api, sdk,
       third party clients`,
    "A service of others takes part: it can fail, change or be slow.": `third party, external api, external service, integration with, integrate with, webhook*, stripe,
       paypal, salesforce, slack`,
    "Time is short: less is tried out before it is used.": `urgent, urgently, asap, deadline, hotfix, by friday, today`,
    "Old code: part of its behavior is undocumented.": `legacy, undocumented, old code, outdated, monolith`,
    "Things happen at once: faults of this kind show rarely.": `race condition, concurren*, deadlock, parallel, in parallel`,
    "It must stay up while it changes.": `zero downtime, no downtime, without downtime, high availability, downtime`,
  },
  nothing: `error handling, error message, error messages, bug tracker, bug tracking, bug report, bug reports, issue tracker,
    document management, document upload, rest of, test data, need to, in the process, on the other hand,
    code base, make sure`,
};
