--
-- PostgreSQL database dump
--

\restrict pRQ9n7cpJRULsS7Qg5J5ZKCMhDRJGOPQC46xVsvFShMVCmI4aow54ztGc3cFAte

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


ALTER TABLE public.alembic_version OWNER TO stoker;

--
-- Name: announcements; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.announcements (
    sequence bigint NOT NULL,
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    engine character varying(36) NOT NULL,
    kind character varying(32) NOT NULL,
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.announcements OWNER TO stoker;

--
-- Name: announcements_sequence_seq; Type: SEQUENCE; Schema: public; Owner: stoker
--

CREATE SEQUENCE public.announcements_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.announcements_sequence_seq OWNER TO stoker;

--
-- Name: announcements_sequence_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: stoker
--

ALTER SEQUENCE public.announcements_sequence_seq OWNED BY public.announcements.sequence;


--
-- Name: change_sets; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.change_sets (
    id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    name character varying(128) NOT NULL,
    kind character varying(32) NOT NULL,
    stack_id character varying(36) NOT NULL,
    stack_name character varying(255) NOT NULL,
    description text NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    base character varying(36),
    operation character varying(36),
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.change_sets OWNER TO stoker;

--
-- Name: document_parts; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.document_parts (
    whole character varying(64) NOT NULL,
    part character varying(64) NOT NULL
);


ALTER TABLE public.document_parts OWNER TO stoker;

--
-- Name: documents; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.documents (
    digest character varying(64) NOT NULL,
    body text NOT NULL
);


ALTER TABLE public.documents OWNER TO stoker;

--
-- Name: drift_detections; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.drift_detections (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    engine character varying(36) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.drift_detections OWNER TO stoker;

--
-- Name: engines; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.engines (
    id character varying(36) NOT NULL,
    host character varying(255) NOT NULL,
    process integer NOT NULL,
    version character varying(32) NOT NULL,
    started_at double precision NOT NULL,
    seen_at double precision NOT NULL,
    lease double precision NOT NULL,
    stopped_at double precision
);


ALTER TABLE public.engines OWNER TO stoker;

--
-- Name: events; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.events (
    sequence bigint NOT NULL,
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    resource_name character varying(255) NOT NULL,
    resource_type character varying(255) NOT NULL,
    physical_id character varying(255),
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    properties character varying(36),
    "time" double precision NOT NULL
);


ALTER TABLE public.events OWNER TO stoker;

--
-- Name: events_sequence_seq; Type: SEQUENCE; Schema: public; Owner: stoker
--

CREATE SEQUENCE public.events_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.events_sequence_seq OWNER TO stoker;

--
-- Name: events_sequence_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: stoker
--

ALTER SEQUENCE public.events_sequence_seq OWNED BY public.events.sequence;


--
-- Name: exports; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.exports (
    project_id character varying(64) NOT NULL,
    name character varying(255) NOT NULL,
    stack_id character varying(36) NOT NULL,
    value text NOT NULL
);


ALTER TABLE public.exports OWNER TO stoker;

--
-- Name: imports; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.imports (
    stack_id character varying(36) NOT NULL,
    name character varying(255) NOT NULL,
    project_id character varying(64) NOT NULL
);


ALTER TABLE public.imports OWNER TO stoker;

--
-- Name: inputs; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.inputs (
    id character varying(36) NOT NULL,
    template character varying(64) NOT NULL,
    environment character varying(64) NOT NULL,
    files character varying(64) NOT NULL,
    parameters text NOT NULL
);


ALTER TABLE public.inputs OWNER TO stoker;

--
-- Name: operations; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.operations (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    parent_operation character varying(36),
    parent_resource character varying(36),
    round integer NOT NULL,
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    inputs character varying(36) NOT NULL,
    former_inputs character varying(36),
    observe boolean NOT NULL,
    request_id character varying(64),
    user_id character varying(64),
    user_name character varying(255),
    created_at double precision NOT NULL,
    started_at double precision,
    finished_at double precision,
    deadline double precision,
    owner character varying(36),
    epoch integer NOT NULL,
    plan text,
    snapshot character varying(36)
);


ALTER TABLE public.operations OWNER TO stoker;

--
-- Name: property_sets; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.property_sets (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    body text NOT NULL
);


ALTER TABLE public.property_sets OWNER TO stoker;

--
-- Name: request_tokens; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.request_tokens (
    project_id character varying(64) NOT NULL,
    token character varying(128) NOT NULL,
    digest character varying(64) NOT NULL,
    answer text,
    created_at double precision NOT NULL
);


ALTER TABLE public.request_tokens OWNER TO stoker;

--
-- Name: resources; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.resources (
    uuid character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    "position" integer NOT NULL,
    name character varying(255) NOT NULL,
    type character varying(255) NOT NULL,
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    physical_id character varying(255),
    fingerprint character varying(64) NOT NULL,
    requires text NOT NULL,
    replaced_by character varying(36),
    properties character varying(36),
    former_properties character varying(36),
    state text,
    created_at double precision NOT NULL,
    updated_at double precision,
    started_at double precision
);


ALTER TABLE public.resources OWNER TO stoker;

--
-- Name: sealing_keys; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.sealing_keys (
    id character varying(64) NOT NULL,
    proof text NOT NULL
);


ALTER TABLE public.sealing_keys OWNER TO stoker;

--
-- Name: snapshots; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.snapshots (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    name character varying(255),
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    inputs character varying(36) NOT NULL,
    body text,
    created_at double precision NOT NULL
);


ALTER TABLE public.snapshots OWNER TO stoker;

--
-- Name: software_configs; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.software_configs (
    id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    name character varying(255) NOT NULL,
    "group" character varying(255) NOT NULL,
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.software_configs OWNER TO stoker;

--
-- Name: software_deployments; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.software_deployments (
    id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    server_id character varying(255) NOT NULL,
    config_id character varying(36) NOT NULL,
    stack_user_project_id character varying(64),
    action character varying(255),
    status character varying(255),
    status_reason text,
    body text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision
);


ALTER TABLE public.software_deployments OWNER TO stoker;

--
-- Name: stack_documents; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stack_documents (
    stack_id character varying(36) NOT NULL,
    body text NOT NULL
);


ALTER TABLE public.stack_documents OWNER TO stoker;

--
-- Name: stack_settings; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stack_settings (
    stack_id character varying(36) NOT NULL,
    protected boolean NOT NULL,
    policy text,
    notification_topics text NOT NULL,
    capabilities text NOT NULL
);


ALTER TABLE public.stack_settings OWNER TO stoker;

--
-- Name: stack_tags; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stack_tags (
    stack_id character varying(36) NOT NULL,
    "position" integer NOT NULL,
    tag character varying(80) NOT NULL
);


ALTER TABLE public.stack_tags OWNER TO stoker;

--
-- Name: stacks; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stacks (
    id character varying(36) NOT NULL,
    name character varying(255) NOT NULL,
    live_name character varying(255),
    project_id character varying(64) NOT NULL,
    user_id character varying(64),
    user_name character varying(255),
    parent_id character varying(36),
    parent_resource character varying(36),
    root_id character varying(36) NOT NULL,
    depth integer NOT NULL,
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    description text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision,
    deleted_at double precision,
    timeout_minutes integer,
    disable_rollback boolean NOT NULL,
    inputs character varying(36) NOT NULL,
    good_inputs character varying(36),
    operation character varying(36),
    credential character varying(255),
    user_project_id character varying(64),
    strayed boolean NOT NULL
);


ALTER TABLE public.stacks OWNER TO stoker;

--
-- Name: trusts; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.trusts (
    credential character varying(255) NOT NULL,
    user_id character varying(64) NOT NULL,
    project_id character varying(64) NOT NULL,
    roles text NOT NULL,
    given_up boolean NOT NULL
);


ALTER TABLE public.trusts OWNER TO stoker;

--
-- Name: writers; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.writers (
    id character varying(36) NOT NULL,
    groups bigint NOT NULL,
    "time" double precision NOT NULL
);


ALTER TABLE public.writers OWNER TO stoker;

--
-- Name: announcements sequence; Type: DEFAULT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.announcements ALTER COLUMN sequence SET DEFAULT nextval('public.announcements_sequence_seq'::regclass);


--
-- Name: events sequence; Type: DEFAULT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.events ALTER COLUMN sequence SET DEFAULT nextval('public.events_sequence_seq'::regclass);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.alembic_version (version_num) FROM stdin;
0001
\.


--
-- Data for Name: announcements; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.announcements (sequence, id, stack_id, engine, kind, body, created_at) FROM stdin;
\.


--
-- Data for Name: change_sets; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.change_sets (id, project_id, name, kind, stack_id, stack_name, description, status, reason, base, operation, body, created_at) FROM stdin;
\.


--
-- Data for Name: document_parts; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.document_parts (whole, part) FROM stdin;
6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc
\.


--
-- Data for Name: documents; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.documents (digest, body) FROM stdin;
474a7972282199786c17dccb993c458f33c7a2090e76a84241dff0f15ae6a31a	gAAAAABrAvlfCAIqgy9PRAK36T83FUAzVOP0X3sEvBMeeZbbZrU6OuJSgNohk7PWQlnGgUuwqlDo0OjpjKMly2Dz60EmeweuDni0Z0aTFMh0gLnm2Ja2n2vRXw3mAw0fx1EYsC2afLO-HiIaIh9RkvUL-AV_iURUu7-AEfaXgVVrCi3UYz6YCcgEATuQjGPE0E2U8OmMxua9jfH8W8ah6hRADe1pWKX8EHRW5-OYuH9E9hT5Zo7HMo2nI5NWH59_mXK6BbsjT3RAxaX99Cu2uyKsxXI-kyd0XFZ6OhaQAWk55jZPVVEtxu3qMt0F9S2HFdG6S6iZA7SqLmTO-h5EXFdKGSSqR_RFruaSCGNcAZmi3Cq3Hmj9antY4pu7d9P4H-ipFU1v5dOZXwnMp6uFrEC8dNDOlrLzF_qbPWwvGE2Ta1iJSrj7PwYAhw1GNQI3WEbrJZQc3JmQHPdhz5fKge6ZWpoAbQoYbdkVtPm_-occ7NtL86x5sDPEHtL2t_6u6HpEayR-XGfGRVyrAU15gq1SgHEibKMumfmqwDGwpkgoWvThaotSZia7b6EvBPiZStIAfTJr789o6PZZFDCBfABb8OcE11S3U-eOi6snSbkPWlJ8HgIaK8Qsg-gZHeEtWFo6pJB_s9Ev748OknSTftmvULvnbaCyf0fqRN4QWQ3kLmPuBE7uAc-Keoj1SBSoGsJXKoCRrNCC5C2yqg-laWzfSitghSEN917MzlbU8CmrQomhbt6nrfsKSaViH3O6yxWqCHnAl621g5BjoLD860Zs73PcpdOEIXoF-K6h-f8WR209wTmlKkdRLQ4Rb2VniSezSzLcMcqcyRO8iZN1CNpZovnVE03zLd1-zCuq73YsRoqkx9lfnLAfr9qy-Vpmr8FL9qk47gDh2ZsAwVzLy98HvwR2o8ne5PMjICn18yJjmRn52Idw4bhqweF-vA0Diux1yCLEAbev_JLOnJct7LyfbzGfvrfDMD9s3CF9xca7WwG_mWa-xhWybbjjeYcObHsVo4uHJjwP8b9Ho2jyTDJuGJvdbwJiKKQv6bo7_XitFVHtzC200RXBQXTF011qqbl69kf33_tN02tV6h_215HwJktIlKF8o577suKu_9fyWHKyETsdvCqfOtoiXd8sgjkefDkBKxj9M3W7gGQL3PvUTcBwlyB_TETDXFnTgNr8NN9McR868tkV8swQ8iLIaqhDlggzEMv826FP2YpEVUTeZyS8usJmHTCmYBOqltv99O-b_d-7Lxf60UeDvqyia6sIuoJyGvAICtAyRK_JQ1fpW0G7JkgzVownnRatknZZe2bEZ_Xr4in6T8UFq9UdLMyNfhFtdsi-sh5YmTEMSpPT7lPEANw1tzWgTT53FXeDN72tE0X43GMTRvo3LwaBQF3mH2BhHbo_TtoDPu2PK8mrSeZQ9Di0L0DgMLxfxjSZKx9a4zGtO_D-WeFFPecslPAlVfvjh9t1ZGyxDV9TPBpK2skoq7wW50ARHz_R2dCsBIsv-sSOYehKaePaNxmCd94lGN0e6hEIuda4DGHrFEuusSq8gxpCi_N5r8t3ggZnTUkiC65uoAHiarlQieIF5oMXDnljdYtDp7HYY-AEN5OyZv9dO9jWSZJX2Kzx574qUkmg3EVhrh_xWSlcNH_t2gFlqNM0rGt9cf5fyMy3QAfUstANH3VxDhuKaamrOFiW7n3HBojCWEJQlZ618MaAhUDOHmrQOVKyI2YprvJ34_RrXHLGqYQK2AH9xzbNXRxaJdH52Eiu6zs=
6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlfPfCm4R1-Kx92gvxl71lSxHQ7V9WOTyXB3rwEOJ3xdQvFnEfI_jQalz0f6hJAmSkRv7AgNHbleBfrXkDxxYIXy5ADU4rpHh46cSfUY0d87dxNJi3aIqj_LUSDlfXqJi6HMomPgzBfSB0BLBc6VNG39aSi_M9ytdhoUDAE1EzCzjzXUmdif_Bh_FJpyg1dETva
d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	gAAAAABrAvlfRMW-mvicGWETjP4WmNWMt0gShi_Hjcj023miBgBqB05lu5Cno1EACbzXbiUGRlnEJDum2Y9ifqQmnmq-VnFUD9JwVTMxwI9v2EQsWFZURv7Hzum0EghqiWeLR7dUT7XskcZSsxDErtj4IDIF778aElljRwcq5o-7vR5Ip8YEBDUIgoYGx0P6KZOtmKK-wMBpz0A6pOgSJQIRebYWnrEttg==
ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	gAAAAABrAvlfTU_AENjEIdSf_M2eBat-7vWnx0k73eZje7Z4D--c9qJ1QMhZAJ54OZYB7jHvdS5nOD93BWhPpQbBl4vaKkkNeqiCUj1t4V51QnC1ngTKN695Gb4jtOFI2L03sMrand93THEjzgOuOZN1yv2h4tN0eHQ_JtSV5jTC90Khc9NSZvY_NwuR1qIbV_AHOE2S72jaNCpEDsPpPKmtHcCyQDWdrnFBjW-NacJeCKw5oe7XAAjCdtHAL3mSGWSRSx-cu37IBiXkr-NvbH10WE904it0gfjV1P4vt_kNj1Y-aevl8AVkt_rcrmfzvymQ8x0VfJYLa9pgsifb377QSV4Uwm_OvdH5w3gmdbTaG-q5ZUiCWG6cOhVDjWqhyyXuW7w95FGqzHW8w4Ft3Ek52Zu9d3D0jyKAPHvUcDL-MzAsG59n2rCpnd7M80Nkv26GWczt4TJT
c8a83cf939bec07ecc253791e004fb74410079b18464974536613941bf26e696	gAAAAABrAvlfbHVNaXMl8xSNaXrHRx2-K9vSzl93MvIZeMST6m3tz1izz0FrJAS4xsBuTeejkXSHy72OZ4_C25Xm-vJs4bFmCtDYdm3pK0Li83dIf6vegS8rhgkiClI2J-KApUhQv0j1JVvOhD3vHuuOsqnobsU36gtAwO99mFLGTgUth3noT2J8Bbd1rfAXQdcE3S3Vgq4kZahalUXg_93L6Dce9I_7I2Ob0cqKYhd0nudJOG2sPsSB7TI4zDFWoQYBYLJ9111gbD2eexLzeUiCVPboG7QQDK5uhWINRuJVwudP8IUw_78=
998cdc5268cb5606af988eb9f21b970cc9ce24ed103299a7ef7223fe55d3ce91	gAAAAABrAvlgmcjEMqESvsP437P1PJaTCkttQq9qPzI7jg7AFe0CBNZed_s1qnmZG7M4nxavulnBIlUKIZwZVmejzMZiOijY427A0VWNDRzE3kLUAO75Yoxl9v1IdzfEl97VFLOFTOAdPknSeqovchdBjJ9mGlTde1aNW4TWnjf-1SzR8gj5VulV7oL3_jJGhxgTno2fYI3Q7HkngaLCk8ImkaU-gBXy5V0TWDAifuAk_CaHayIjYtlVKSd-vxDyaF8_zWIZArCUVFCui92YsFV34QjRd9LM8cw9Rp9eIsGsAnb2smoXYzpk1PDc1VO5LYSPOxz7CWWLtyKgpQtzf-mIKcFHm3GQGev1lLaIO6Grqv806GQrpojnn_83ign9XA5q3LxvqI5iEGcWuVEMklMH6ugms2v1v4YYiKLWXHa-aVDsNME84pebnNghEICtO04mElkeOx4L9lCwBSGCIdbIBapmuTgSEFJMKbsI27nd5W_jO4JYbKdzPJwUnogdnNj5PJtWPKMIP2hRB38XsykyFSIF2RQOMbkafyYVRL_91q484z3olikaL7eN1UmzLr-n0qSN2qcjgro3zFBfpj8hfQ1bYG2gIRyJrA9KO6EUalMCmjfuVeY1fjZqly8whm5rcvSCS4cJqB7rwEK3cHMFsup63byvI9l7KtUGnoWSX7W7tkakPq8WBkVXuIP7nvYBIsmFUkObzAqycqRZPDxTVRndhVkqxPOUvq9dtTw93BoalFt7wQ5qfDuVluB_hA6oU77q5_4gg7p5c9zMWovQd1g7oAdQlzaytgNAsjLJR1ufUbftHXfBtfpxLE3svtG0i5LMDlVzFBjeqZhmaC8m3_1MG2Caqm4HW7ZQlesEeFXdVcfvCwzOMPxdNJMTAiLdyJR4ZVuQ7B3zzwU9WRhojfkA1TDvcNBuxcBkKOxw38tWyLuvfmZG1pL43kDM5xtOmVj7hY-TRE4UhySXov97XGCAveaHAgoutIV-v4qaIx_3CTBTGbOrg_DbNOptYC-DlAAp7MbNCkVYWbcUhxN9odE4AL0tQf3d2GItwiXmzu-9rb8kQTUc63yQCiUgShy9s6z6Of44NUVEoJL2ZBlaa4vbWeS_pMjfMc2yIDKLui5nASasJ4IH1nirxxpGfiz5CpM70I_cqHvnLb7nnKyHdDYXCvlUP_kLX6_2V8xYUKxE-5HVuFja3zUwf5ZfHZcOX0mnWHRWI8M-ouOYwU580ICDhWiojDyiRkWDM8MR_eaWh-Bx26Mmeb_9sYslmmdMvdAgeUEgC9puxV7xhdf5-M7BULH0_HGaASC-3x5CVSkmdpdGZ0hdYT00l2KYhSKja2AAzczNzzgl7ernMWBOHdUDqYQPiG7mSXXU9tWY0m_6KeQrUAGHg9K0dremr8MwY1ks6eb3yU5YU6BGAHQVMTuj6k1NyaU9dsAQgLefFR0r6eRCSRCQCY6llMrLvc1zBFjta3IcSPYkbyoAoyHzrHTYCacDvEwAeauainPE8xJs5T5dGV1p9M3Jx7M6UzZcCppnNNZ9HJdSOWchX1PspTDDQqOcw8qA8nV0y-UqvaDr3aNWCDi0pmt0-3saCLc02ONru2wKfPUZscUHD2Y-IeeVHrvPwMvDuG1W6tcX5bsnBEDvhoNHTV-w2gJSw7W_1EsL2k6sJtgdL2TJQCw8vvrwPBxxdd6fgmU8P1dIJCHGpp-oRrnLqxLyMKzbsQS-UwNXms1gKvrdGNhi8KonSseQwWWltRAazi6EnqivvPv3GbOQILY=
4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	gAAAAABrAvlgssvA4XjWe8XkX6_0g2DIvqoRl7caycw61Dw472h1cNAzR3ryEu5mqCApTGg96IPDy_3a2T48tLe9ISTkrZORuxS8llZ-djPUugNOkELnypnyARIK4cNLCm4FY1PS3vvor1GARP3pZ_rUluMqozJZDHtRCVxzES1sOMELv6y_w5xQvUZkG9dPZHxMFhFHoJH7niNrwq_jhcSp8BRbCl-NrAota2NjIA7gW5x7mjgryJRcUDqFqkvqKYBBqFWB_ls7nII6TqLt7FD0Zzr_SOE6yw==
5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAvlg_LBLjz3_DOlZBnz2NPMMlAT2WWCPFnrugoEkD74M2hu_JZx_G1wHgM6Zjgs6u3QtV9JC8ONrCpIP4NQ6xfjqPg==
775fbfc0b984871bac7c542ef7758683af5bf4692503c4ce2a0ed2049b3488b6	gAAAAABrAvliZFLn3imjW3g4rt1AD2iZFnmrGPskYsgztZV6eFC73UV9dV8yi1fX1Br16VWmE_2_HDDQOQHuHfOYwmFxjGOyAe8tCFxikrJfmMXtR9PP8FvWKTCQv3tIymHil0G4MWkBZ4K56u39eDLmOB9iYwoOHQhZJ_auI98o_B6G3n1zsbAz9CCGLF5WiEVh-h46oCrsrouDLBA0JtDe_Caeco-qoCpPEpM-fSb6mty1XuBUyXmqZSTww7aVGkxCZq-6H0eNoQvmMzJ76tY8kuCl2YhevFfl6jMwJdyGgsgc88l1iCPh5A2u1QCvEh2WuxbM0JV2QwsNrxNNYzfWnwkSL4A4FUuYcCh6Y1hxU7zkJb9dxh_Iy0eFf54zJA1q0eFWFNQd
94a35c66b65b9f7d62bb584c3792d867e1db2bd2e8427f9eab61e22d86ad25e7	gAAAAABrAvliMdS8BaTTooc1yuslTiYF6kJLMMIF-syocUDR7RQBsmsVCRtE1wm92IcNsdFQnmqXckBNoS78_j_M1_qGxX-9iFkGx-x8YNjW2dV2Q6pNCmuKh2A7NWeOYuaCXJVr-Gc4_l65OOnxzZz5ozjronEJb11gLe-oTulAy0nX8m4i7-4G0yaezRd_mfYulVVgpMCII4aBuGgJ_G866v2VSqi-yjmvkvUWa6VxRzDz5yJUoaP_0PVxwqYXXaJ8xCFHMOnSTJ6KDnIyMsASFOpbNEp14pexp2Ztibgt3JkWOATDsOLv-tex8FKgRRdLhffuDyBxfrO-4pdybICRLGOj1wCzA3LB4QrpD4HP91q_804hGT9WFTgZC9kNxcLfuxA-enOJsQqyv_SANq6rfzUzsO1Hrd5MqEYUdbGqkArMLEEkyS1AjIBK1KA8BrKRBKhKex8b8-q9-Dhg0RMIjoVYuZg12eZTHAZGRuBsP07_Pp0_CISwqjoBi0Zuepo8y5rKfyq7sQ4PpBWT_TRI323jDox9Ewar9_cDuY8Xr4ZcLvn1_KF6Tc2CzHi2Wat_XWCvxzJM8AeSDv0p2uqBzBvZDUuMxAOtR8mZcAi0DOLPkQ_REbmX3HqL_2aBodn2HeYltN_3wg9tl_gpEFnXjkdfefgew4d-URkCFvnwc7ibIRiwciNVUEGV9V9mkbC7j-EBtz-EDgVea7zc26--o6K3Cr0fKumD5hxFXt_X0Kt0qhHrXtM=
\.


--
-- Data for Name: drift_detections; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.drift_detections (id, stack_id, project_id, engine, status, reason, body, created_at) FROM stdin;
\.


--
-- Data for Name: engines; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.engines (id, host, process, version, started_at, seen_at, lease, stopped_at) FROM stdin;
d993d2cf-05e5-4db9-90c2-8e28cecefabe	vm	9005	0.1.0	1795357022.9888933	1795357026.034351	15	\N
\.


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.events (sequence, id, stack_id, resource_name, resource_type, physical_id, action, status, reason, properties, "time") FROM stdin;
1	708a8b90-8822-4293-8560-911a849e52eb	985b6928-e5ed-482b-86f5-8e7af47f0d5f	resting	OS::Heat::Stack	985b6928-e5ed-482b-86f5-8e7af47f0d5f	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357023.2821321
2	8b6bf391-c41d-45b6-9ec1-03f54c8b4328	985b6928-e5ed-482b-86f5-8e7af47f0d5f	net	OS::Neutron::Net	resting-net-rkiyjf4mluvc	CREATE	IN_PROGRESS	state changed	5cc29c4f-376c-4538-ba40-afa925b42347	1795357023.307195
3	735d7c6d-5337-4713-a0ca-f1cb0ae6e7e5	985b6928-e5ed-482b-86f5-8e7af47f0d5f	nested	child.yaml	resting-nested-totubbswgren	CREATE	IN_PROGRESS	state changed	57e26683-84d5-4c34-a002-a01d3d4cb078	1795357023.3239415
4	5509d62d-71f6-4e66-8f4c-d157b948090d	985b6928-e5ed-482b-86f5-8e7af47f0d5f	members	OS::Heat::ResourceGroup	resting-members-nvuddxmmk57i	CREATE	IN_PROGRESS	state changed	8c767423-56a5-4198-a37f-db2d90b66f93	1795357023.3241334
5	079ab8e1-d772-4f66-a815-c501d902d006	985b6928-e5ed-482b-86f5-8e7af47f0d5f	script	OS::Heat::SoftwareConfig	resting-script-b5xzgyn55isy	CREATE	IN_PROGRESS	state changed	cb03ca0e-3d56-43ad-9250-eb0199f253f0	1795357023.3242846
6	2a99fd12-0e1f-4a82-9c01-a82e8e6072c0	985b6928-e5ed-482b-86f5-8e7af47f0d5f	value	OS::Heat::Value	\N	CREATE	IN_PROGRESS	state changed	de8fb79c-91b8-4eac-a8f7-1e7c2d314061	1795357023.323482
7	8d6ccaf6-2fd7-48a5-b09d-28f0e70a99b5	985b6928-e5ed-482b-86f5-8e7af47f0d5f	value	OS::Heat::Value	resting-value-w44egbyzafqk	CREATE	COMPLETE	state changed	de8fb79c-91b8-4eac-a8f7-1e7c2d314061	1795357023.3442924
8	64b4dae3-cff8-4711-a63f-65d563fa8b29	985b6928-e5ed-482b-86f5-8e7af47f0d5f	random	OS::Heat::RandomString	\N	CREATE	IN_PROGRESS	state changed	8b10833c-2f54-4958-ad03-a5f51840271d	1795357023.323782
9	7a90b5dd-d446-48c3-962a-b68ea6fc8bac	985b6928-e5ed-482b-86f5-8e7af47f0d5f	random	OS::Heat::RandomString	resting-random-nhznksmmm6tq	CREATE	COMPLETE	state changed	8b10833c-2f54-4958-ad03-a5f51840271d	1795357023.344723
10	adb1ca9f-c3cd-4529-90f1-4dafaffb187b	985b6928-e5ed-482b-86f5-8e7af47f0d5f	net	OS::Neutron::Net	4370352f-5cda-4cce-9b9c-c1663896cfc2	CREATE	COMPLETE	state changed	5cc29c4f-376c-4538-ba40-afa925b42347	1795357023.364963
11	9efeca81-deb4-4ac4-a0d0-87639765ab3b	f5072778-4a49-47e3-982f-5473da261cc2	resting-nested-totubbswgren	OS::Heat::Stack	f5072778-4a49-47e3-982f-5473da261cc2	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357023.399862
12	e0593e72-05ad-4443-8c0a-a789a7ed301e	985b6928-e5ed-482b-86f5-8e7af47f0d5f	subnet	OS::Neutron::Subnet	resting-subnet-rp6p4n7ucts5	CREATE	IN_PROGRESS	state changed	18ee7057-1d03-47db-9067-4a49a3895661	1795357023.4239507
13	3cc3cba9-fae7-4185-8214-a5603ce097ad	985b6928-e5ed-482b-86f5-8e7af47f0d5f	script	OS::Heat::SoftwareConfig	7ebc7123-f45e-47b1-b0f6-f9361bdea258	CREATE	COMPLETE	state changed	cb03ca0e-3d56-43ad-9250-eb0199f253f0	1795357023.4397957
14	94556e3b-90ae-44d5-a9ff-0ecd5d75c0c5	f5072778-4a49-47e3-982f-5473da261cc2	net	OS::Neutron::Net	resting-nested-totubbswgren-net-5mzb3ofqzxmn	CREATE	IN_PROGRESS	state changed	22b606ca-91ec-4975-91ad-cc8c85f33372	1795357023.4523394
15	d81d5c3e-e940-4b5a-867c-1ef6cadab122	f5072778-4a49-47e3-982f-5473da261cc2	volume	OS::Cinder::Volume	resting-nested-totubbswgren-volume-wb2zaa55smfo	CREATE	IN_PROGRESS	state changed	a1eb1076-3b73-4271-bca8-b79867fb6f84	1795357023.452537
16	544fa28b-fd0d-490a-b1cb-8f60274ac2ad	dc46d02b-9fa9-470f-a052-9925d6e977de	resting-members-nvuddxmmk57i	OS::Heat::Stack	dc46d02b-9fa9-470f-a052-9925d6e977de	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357023.4566257
17	7472bb6a-b994-4fcb-bd10-bcbb7c3c9e1f	985b6928-e5ed-482b-86f5-8e7af47f0d5f	subnet	OS::Neutron::Subnet	0653147e-2670-48a3-a907-03907df7d460	CREATE	COMPLETE	state changed	18ee7057-1d03-47db-9067-4a49a3895661	1795357023.4624257
18	19797f6c-61cc-41b5-8796-12a30e04c643	dc46d02b-9fa9-470f-a052-9925d6e977de	0	child.yaml	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u	CREATE	IN_PROGRESS	state changed	8b160fba-3c71-4678-a9ac-f3fc4e0c9082	1795357023.526036
19	d4ea44c8-7bc1-46d0-8218-782f1bbbf963	dc46d02b-9fa9-470f-a052-9925d6e977de	1	child.yaml	resting-members-nvuddxmmk57i-1-izec562m3s5g	CREATE	IN_PROGRESS	state changed	6dba1f84-2508-48ae-a9de-fc9219659735	1795357023.526213
20	97d1e09f-0007-4a87-9ff2-c630ba9cc135	f5072778-4a49-47e3-982f-5473da261cc2	net	OS::Neutron::Net	9de71a25-1e89-4928-acc2-c7236ab9d649	CREATE	COMPLETE	state changed	22b606ca-91ec-4975-91ad-cc8c85f33372	1795357023.5306573
21	6f1752ad-2e6c-4cc4-9241-a86f37826d22	985b6928-e5ed-482b-86f5-8e7af47f0d5f	server	OS::Nova::Server	resting-server-2coylqxu3fxr	CREATE	IN_PROGRESS	state changed	bf7273cb-a487-4fd9-b2bb-aafbc1dae9a7	1795357023.5313077
22	81b039da-dd8d-4b7c-beae-51943b8887d1	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u	OS::Heat::Stack	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357023.533977
23	62ea8a55-9e15-4441-85c3-1ce3f28e1fb1	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	resting-members-nvuddxmmk57i-1-izec562m3s5g	OS::Heat::Stack	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357023.5341146
24	9be409fd-a096-4ab2-81b3-c6913b9d3553	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	net	OS::Neutron::Net	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u-net-mivnm6pfsnhl	CREATE	IN_PROGRESS	state changed	31ddc8b7-8c9a-4b8e-aa97-d631b3bf39df	1795357023.5613012
25	9fe0115f-d53a-4578-9595-f3f60d21e2c7	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	volume	OS::Cinder::Volume	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u-volume-uakaqmcrswzs	CREATE	IN_PROGRESS	state changed	7680a0b7-7660-4897-abd5-a3b390ed89ca	1795357023.5706646
26	e206313f-8da3-4239-a330-8cc1f4bf0535	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	net	OS::Neutron::Net	resting-members-nvuddxmmk57i-1-izec562m3s5g-net-he7y2qp2uaic	CREATE	IN_PROGRESS	state changed	730f8cb2-b041-404a-9b4b-a56bd427125a	1795357023.5709012
27	8f92ade2-3fed-489c-90aa-44557f19cb98	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	volume	OS::Cinder::Volume	resting-members-nvuddxmmk57i-1-izec562m3s5g-volume-ywgwujas6cog	CREATE	IN_PROGRESS	state changed	640a9b55-1752-4afc-8122-fb8a5b32e6bd	1795357023.5710428
28	34a653ba-ac2a-4983-b001-63085ee5ddb5	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	net	OS::Neutron::Net	f827ccb9-c4e7-4eed-b834-fb337bce5aeb	CREATE	COMPLETE	state changed	31ddc8b7-8c9a-4b8e-aa97-d631b3bf39df	1795357023.6451929
29	29f7a730-1f2e-43ed-a3bb-a000aa687662	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	net	OS::Neutron::Net	91334f21-072a-475f-8340-1fb34e9be66a	CREATE	COMPLETE	state changed	730f8cb2-b041-404a-9b4b-a56bd427125a	1795357023.6471543
30	8a58ee2f-2385-476f-8251-75e82a27033a	f5072778-4a49-47e3-982f-5473da261cc2	volume	OS::Cinder::Volume	4e2a92ed-2999-4df1-acba-2245f3af390b	CREATE	COMPLETE	state changed	a1eb1076-3b73-4271-bca8-b79867fb6f84	1795357023.788247
31	edc73aac-45d3-4ad3-9884-9584ecf2e0a3	f5072778-4a49-47e3-982f-5473da261cc2	resting-nested-totubbswgren	OS::Heat::Stack	f5072778-4a49-47e3-982f-5473da261cc2	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357023.7956195
32	341731e1-feb4-4c61-81c5-a648db0c52a2	985b6928-e5ed-482b-86f5-8e7af47f0d5f	nested	child.yaml	f5072778-4a49-47e3-982f-5473da261cc2	CREATE	COMPLETE	state changed	57e26683-84d5-4c34-a002-a01d3d4cb078	1795357023.829676
33	48faea99-7524-4afb-8a22-d3174941f123	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	volume	OS::Cinder::Volume	6a00fb53-d976-4bdd-ad3f-6b562639a099	CREATE	COMPLETE	state changed	7680a0b7-7660-4897-abd5-a3b390ed89ca	1795357023.915004
34	c17a331b-4ea6-4737-9e64-924b9dc04f18	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u	OS::Heat::Stack	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357023.9201958
35	c015b98f-6b07-4d39-ab50-5455e8988c15	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	volume	OS::Cinder::Volume	196386a3-8336-42d8-9c8b-c93c14fb5598	CREATE	COMPLETE	state changed	640a9b55-1752-4afc-8122-fb8a5b32e6bd	1795357023.9264672
36	d6579bb5-5e53-40dc-9d36-11810835d22b	dc46d02b-9fa9-470f-a052-9925d6e977de	0	child.yaml	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	CREATE	COMPLETE	state changed	8b160fba-3c71-4678-a9ac-f3fc4e0c9082	1795357023.9300303
37	a37deb53-2836-4c14-b9bd-ea8048704088	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	resting-members-nvuddxmmk57i-1-izec562m3s5g	OS::Heat::Stack	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357023.9358213
38	8af82564-7f08-4a59-842f-5c16974b34fe	dc46d02b-9fa9-470f-a052-9925d6e977de	1	child.yaml	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	CREATE	COMPLETE	state changed	6dba1f84-2508-48ae-a9de-fc9219659735	1795357023.943694
39	47e1f946-d441-4156-9d4e-f2f3955c7f35	dc46d02b-9fa9-470f-a052-9925d6e977de	resting-members-nvuddxmmk57i	OS::Heat::Stack	dc46d02b-9fa9-470f-a052-9925d6e977de	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357023.9464364
40	6a8d8b30-707a-44ea-b664-c370bc48c2a3	985b6928-e5ed-482b-86f5-8e7af47f0d5f	server	OS::Nova::Server	95a95ef7-b841-4ed0-bc3f-cdba5a6a9175	CREATE	COMPLETE	state changed	bf7273cb-a487-4fd9-b2bb-aafbc1dae9a7	1795357023.9837568
41	3cbf14b1-4c86-4078-9525-3073122a72c1	985b6928-e5ed-482b-86f5-8e7af47f0d5f	members	OS::Heat::ResourceGroup	dc46d02b-9fa9-470f-a052-9925d6e977de	CREATE	COMPLETE	state changed	8c767423-56a5-4198-a37f-db2d90b66f93	1795357023.9883988
42	bde6d571-87b3-48ea-9f0b-f0460f9d1ace	985b6928-e5ed-482b-86f5-8e7af47f0d5f	deployed	OS::Heat::SoftwareDeployment	resting-deployed-gplfz5nptlvl	CREATE	IN_PROGRESS	state changed	7e634840-c8e2-4259-b5fa-72874c3e8abe	1795357023.99426
43	20d06483-fb12-4b65-b043-92c27d4525ed	985b6928-e5ed-482b-86f5-8e7af47f0d5f	deployed	OS::Heat::SoftwareDeployment	152b21c2-ef5e-4852-933d-65cf5af9aeab	CREATE	COMPLETE	state changed	7e634840-c8e2-4259-b5fa-72874c3e8abe	1795357024.0246193
44	9e7b3d11-9790-4942-9adf-993f55a1372a	985b6928-e5ed-482b-86f5-8e7af47f0d5f	resting	OS::Heat::Stack	985b6928-e5ed-482b-86f5-8e7af47f0d5f	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357024.0449028
45	01b4bc99-6d1e-4977-bd9b-32119234c878	985b6928-e5ed-482b-86f5-8e7af47f0d5f	resting	OS::Heat::Stack	985b6928-e5ed-482b-86f5-8e7af47f0d5f	UPDATE	IN_PROGRESS	Stack UPDATE started	\N	1795357024.060432
46	513dbafa-a3e7-495a-a19f-88b9cbfb86af	985b6928-e5ed-482b-86f5-8e7af47f0d5f	nested	child.yaml	f5072778-4a49-47e3-982f-5473da261cc2	UPDATE	IN_PROGRESS	state changed	2789a9bb-666b-4548-b739-af04217bd1b6	1795357024.0708745
47	c064b22e-1184-458d-93cb-94e0d11999e9	f5072778-4a49-47e3-982f-5473da261cc2	resting-nested-totubbswgren	OS::Heat::Stack	f5072778-4a49-47e3-982f-5473da261cc2	UPDATE	IN_PROGRESS	Stack UPDATE started	\N	1795357024.0768585
48	101c284d-93cf-4ae0-b9ba-02e2242e20ba	f5072778-4a49-47e3-982f-5473da261cc2	net	OS::Neutron::Net	9de71a25-1e89-4928-acc2-c7236ab9d649	UPDATE	IN_PROGRESS	state changed	57f409cc-0605-4610-8109-5f3f6dcba38b	1795357024.0819306
49	80b525cc-cee8-4f96-aaea-1f7fd361d190	f5072778-4a49-47e3-982f-5473da261cc2	net	OS::Neutron::Net	9de71a25-1e89-4928-acc2-c7236ab9d649	UPDATE	COMPLETE	state changed	57f409cc-0605-4610-8109-5f3f6dcba38b	1795357024.0850139
50	8c444dc5-dda1-4105-b7e4-a84313051473	f5072778-4a49-47e3-982f-5473da261cc2	resting-nested-totubbswgren	OS::Heat::Stack	f5072778-4a49-47e3-982f-5473da261cc2	UPDATE	COMPLETE	Stack UPDATE completed successfully	\N	1795357024.0862606
51	ca2e7a00-1672-4886-8947-a95bbadad958	985b6928-e5ed-482b-86f5-8e7af47f0d5f	nested	child.yaml	f5072778-4a49-47e3-982f-5473da261cc2	UPDATE	COMPLETE	state changed	2789a9bb-666b-4548-b739-af04217bd1b6	1795357024.0883088
52	f458f372-5c6d-4032-8b96-e22337c56b8e	985b6928-e5ed-482b-86f5-8e7af47f0d5f	resting	OS::Heat::Stack	985b6928-e5ed-482b-86f5-8e7af47f0d5f	UPDATE	COMPLETE	Stack UPDATE completed successfully	\N	1795357024.0917974
53	cde9320e-7563-472d-8d83-2dd6b5d8e9cc	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	changing	OS::Heat::Stack	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357024.0983856
54	e67c87e0-03c0-4c42-ae1a-73b4ec0c6565	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	net	OS::Neutron::Net	changing-net-p2usitpkxkmf	CREATE	IN_PROGRESS	state changed	3d5c36aa-8f4d-4792-9fea-63414366bdf8	1795357024.1011777
55	7e9bdd04-261c-4ba4-bbd9-97a73e3521ab	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	volume	OS::Cinder::Volume	changing-volume-5abwzy3d64sm	CREATE	IN_PROGRESS	state changed	557751cc-8396-4272-babb-0de884f0e41b	1795357024.1022127
56	b93a280b-9370-4cd3-86a7-327c33ccb212	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	net	OS::Neutron::Net	bcda28a1-8b6d-48b4-b0c5-29883d35ec9e	CREATE	COMPLETE	state changed	3d5c36aa-8f4d-4792-9fea-63414366bdf8	1795357024.104936
57	b37f4e16-6376-4ca7-8039-c41785886de8	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	volume	OS::Cinder::Volume	78cb8154-953c-4b50-99c7-3bf7478c7503	CREATE	COMPLETE	state changed	557751cc-8396-4272-babb-0de884f0e41b	1795357024.3729436
58	0546ed91-0c2b-41a2-9136-5ca098f26ae0	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	changing	OS::Heat::Stack	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357024.3887556
59	608b2be9-69f0-4a8d-be80-e133c65092cc	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	falling	OS::Heat::Stack	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357024.4123156
60	9bbd9f01-2c7a-4e26-99a9-da84dab18c43	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	net	OS::Neutron::Net	falling-net-4ifb5ay5v7pk	CREATE	IN_PROGRESS	state changed	b8f98844-9218-459e-b65c-f18cb1614667	1795357024.4240222
61	d89a5a63-4638-40e6-9ebc-ac5300bafc65	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	volume	OS::Cinder::Volume	falling-volume-e733viixkw5v	CREATE	IN_PROGRESS	state changed	2756101a-a281-492e-beb0-ba9de98eaac3	1795357024.4242136
62	fbfb745f-f4b7-4757-a21d-332c536d4b80	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	net	OS::Neutron::Net	21a6769c-b46a-4d75-a4de-0455e0d449db	CREATE	COMPLETE	state changed	b8f98844-9218-459e-b65c-f18cb1614667	1795357024.4373386
63	d8b15d92-0128-4d08-b226-6b312c5d43c5	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	volume	OS::Cinder::Volume	be804d34-b236-4b90-a8d1-67bbffa0b2be	CREATE	COMPLETE	state changed	2756101a-a281-492e-beb0-ba9de98eaac3	1795357024.7158253
64	ca203bf6-4212-420c-b64d-47b6d14511c1	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	falling	OS::Heat::Stack	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357024.726635
65	c95dcc88-8a61-426c-a8cc-7ceba22da60d	57eaec94-bbe9-4519-b142-8ab05244691d	kept	OS::Heat::Stack	57eaec94-bbe9-4519-b142-8ab05244691d	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357024.7581294
66	afc20b30-51c3-462e-9115-ffacceaaaaa2	57eaec94-bbe9-4519-b142-8ab05244691d	net	OS::Neutron::Net	kept-net-o6gglie2gbjy	CREATE	IN_PROGRESS	state changed	5f7d51cc-0c57-4823-b221-f87578840fc8	1795357024.7789838
67	b2b90615-b701-413b-8e02-fc58ac15f88f	57eaec94-bbe9-4519-b142-8ab05244691d	volume	OS::Cinder::Volume	kept-volume-gdshbn6byfha	CREATE	IN_PROGRESS	state changed	96b74e06-a2c3-49b0-9970-beebf56d7cdc	1795357024.7791955
68	844dfa5c-92a8-4744-8fc2-93c70ea55b08	57eaec94-bbe9-4519-b142-8ab05244691d	net	OS::Neutron::Net	f6152ab7-1ef9-4aa6-900e-eaada53e2d79	CREATE	COMPLETE	state changed	5f7d51cc-0c57-4823-b221-f87578840fc8	1795357024.783162
69	f6b64802-bd09-4af8-9a28-8643bcf47200	57eaec94-bbe9-4519-b142-8ab05244691d	volume	OS::Cinder::Volume	340ebc0b-997d-4f44-bfc8-5d771bb604dd	CREATE	COMPLETE	state changed	96b74e06-a2c3-49b0-9970-beebf56d7cdc	1795357025.040902
70	1b2d37c2-0766-429f-ac82-213ad266bda4	57eaec94-bbe9-4519-b142-8ab05244691d	kept	OS::Heat::Stack	57eaec94-bbe9-4519-b142-8ab05244691d	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357025.0450547
71	f4e9157c-1df9-4885-ba00-20a0177e5fb5	639f3b22-b38e-4458-a8fd-cb5057dbe35b	gone	OS::Heat::Stack	639f3b22-b38e-4458-a8fd-cb5057dbe35b	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357025.065829
72	bc169514-f4de-4c44-9a58-c74dff7da453	639f3b22-b38e-4458-a8fd-cb5057dbe35b	net	OS::Neutron::Net	gone-net-cshyefsbb24p	CREATE	IN_PROGRESS	state changed	2eb15bea-4fb1-4595-942e-0e2e87a4dcfe	1795357025.0790977
73	3d24d380-2ede-434f-b00e-1e74c44e9d3d	639f3b22-b38e-4458-a8fd-cb5057dbe35b	volume	OS::Cinder::Volume	gone-volume-3tsfohafxc5n	CREATE	IN_PROGRESS	state changed	a2ff3fc5-e8f5-41db-b998-b9949ddbaae8	1795357025.0793705
74	f5730d48-9193-410c-91de-7339fa26c9cd	639f3b22-b38e-4458-a8fd-cb5057dbe35b	net	OS::Neutron::Net	e74e2b51-f183-48c7-b23c-74403204d928	CREATE	COMPLETE	state changed	2eb15bea-4fb1-4595-942e-0e2e87a4dcfe	1795357025.097476
75	31dce6a6-13a2-4010-94a9-08205c1cd50d	639f3b22-b38e-4458-a8fd-cb5057dbe35b	volume	OS::Cinder::Volume	2a994fa1-4f1e-47a5-97d5-3c6896999575	CREATE	COMPLETE	state changed	a2ff3fc5-e8f5-41db-b998-b9949ddbaae8	1795357025.3621612
76	bf720d63-4543-498e-aaed-a96debacc066	639f3b22-b38e-4458-a8fd-cb5057dbe35b	gone	OS::Heat::Stack	639f3b22-b38e-4458-a8fd-cb5057dbe35b	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795357025.3788748
77	73a765de-4eb3-4939-a706-9eda330c47d9	57eaec94-bbe9-4519-b142-8ab05244691d	kept	OS::Heat::Stack	57eaec94-bbe9-4519-b142-8ab05244691d	SNAPSHOT	IN_PROGRESS	Stack SNAPSHOT started	\N	1795357025.393593
78	e9f748e7-9629-446c-9ad7-9ec96c6d17dd	57eaec94-bbe9-4519-b142-8ab05244691d	net	OS::Neutron::Net	f6152ab7-1ef9-4aa6-900e-eaada53e2d79	SNAPSHOT	IN_PROGRESS	state changed	5f7d51cc-0c57-4823-b221-f87578840fc8	1795357025.4175792
79	950d2af0-06d7-43d3-8af5-749336887e1a	57eaec94-bbe9-4519-b142-8ab05244691d	volume	OS::Cinder::Volume	340ebc0b-997d-4f44-bfc8-5d771bb604dd	SNAPSHOT	IN_PROGRESS	state changed	96b74e06-a2c3-49b0-9970-beebf56d7cdc	1795357025.4177284
80	e0631e8a-86f2-4f81-b71e-615d89d59ba2	57eaec94-bbe9-4519-b142-8ab05244691d	net	OS::Neutron::Net	f6152ab7-1ef9-4aa6-900e-eaada53e2d79	SNAPSHOT	COMPLETE	state changed	5f7d51cc-0c57-4823-b221-f87578840fc8	1795357025.4309943
81	ab1ec931-2d77-452a-a835-2526f74a9e77	57eaec94-bbe9-4519-b142-8ab05244691d	volume	OS::Cinder::Volume	340ebc0b-997d-4f44-bfc8-5d771bb604dd	SNAPSHOT	COMPLETE	state changed	96b74e06-a2c3-49b0-9970-beebf56d7cdc	1795357025.7233298
82	697f4462-b149-4145-876e-7996c7b85b20	57eaec94-bbe9-4519-b142-8ab05244691d	kept	OS::Heat::Stack	57eaec94-bbe9-4519-b142-8ab05244691d	SNAPSHOT	COMPLETE	Stack SNAPSHOT completed successfully	\N	1795357025.734933
83	7a8a5805-d8c8-415e-a85c-8d525e6436d0	639f3b22-b38e-4458-a8fd-cb5057dbe35b	gone	OS::Heat::Stack	639f3b22-b38e-4458-a8fd-cb5057dbe35b	DELETE	IN_PROGRESS	Stack DELETE started	\N	1795357025.7549267
84	a16f6436-56bf-4306-8455-040d48c465d4	639f3b22-b38e-4458-a8fd-cb5057dbe35b	volume	OS::Cinder::Volume	2a994fa1-4f1e-47a5-97d5-3c6896999575	DELETE	IN_PROGRESS	state changed	a2ff3fc5-e8f5-41db-b998-b9949ddbaae8	1795357025.7755954
85	f070f929-026c-494e-8686-7b2d65725c4a	639f3b22-b38e-4458-a8fd-cb5057dbe35b	net	OS::Neutron::Net	e74e2b51-f183-48c7-b23c-74403204d928	DELETE	IN_PROGRESS	state changed	2eb15bea-4fb1-4595-942e-0e2e87a4dcfe	1795357025.775704
86	9c766be9-70d1-4eff-aa47-134882521db6	639f3b22-b38e-4458-a8fd-cb5057dbe35b	net	OS::Neutron::Net	e74e2b51-f183-48c7-b23c-74403204d928	DELETE	COMPLETE	state changed	2eb15bea-4fb1-4595-942e-0e2e87a4dcfe	1795357025.811738
87	a9450ad8-159e-4e06-9e86-d9dacf52cc96	639f3b22-b38e-4458-a8fd-cb5057dbe35b	volume	OS::Cinder::Volume	2a994fa1-4f1e-47a5-97d5-3c6896999575	DELETE	COMPLETE	state changed	a2ff3fc5-e8f5-41db-b998-b9949ddbaae8	1795357026.0848224
88	7554ad81-fcf6-4c5c-b0ae-db25160ab288	639f3b22-b38e-4458-a8fd-cb5057dbe35b	gone	OS::Heat::Stack	639f3b22-b38e-4458-a8fd-cb5057dbe35b	DELETE	COMPLETE	Stack DELETE completed successfully	\N	1795357026.0877795
89	5377a399-ab68-4260-9935-d6e824ed2552	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	rising	OS::Heat::Stack	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357026.1021645
90	52abacb0-eecc-4c34-b940-5a21e6884d20	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	nested	child.yaml	rising-nested-7fldihblp4lh	CREATE	IN_PROGRESS	state changed	0f3ab17c-ab2a-4802-a70a-47bd2f46382f	1795357026.104909
91	5f35cc3c-0bf9-4404-a179-2222127fa5e5	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	changing	OS::Heat::Stack	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	UPDATE	IN_PROGRESS	Stack UPDATE started	\N	1795357026.1086102
92	cbba033c-5998-452e-87ea-50e47a0ad5eb	fa564dae-0dc7-4744-8e61-8dbb797093a9	rising-nested-7fldihblp4lh	OS::Heat::Stack	fa564dae-0dc7-4744-8e61-8dbb797093a9	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795357026.1115246
93	c1fe14a3-df53-4931-a4e0-087b62500e2d	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	subnet	OS::Neutron::Subnet	changing-subnet-vr43n5u6xtsd	CREATE	IN_PROGRESS	state changed	b1cee323-9cae-4681-b651-2edfd5ae0956	1795357026.1138926
94	63285f8a-9a5a-4bbf-9750-e727e47de556	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	falling	OS::Heat::Stack	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	DELETE	IN_PROGRESS	Stack DELETE started	\N	1795357026.115774
95	4c7363ff-afa3-4f7e-8af9-f360119c4740	fa564dae-0dc7-4744-8e61-8dbb797093a9	net	OS::Neutron::Net	rising-nested-7fldihblp4lh-net-qdefzvblxmge	CREATE	IN_PROGRESS	state changed	7718d325-d67a-4efa-b785-7ec9c6c6cc69	1795357026.1196244
96	6a411cda-cc30-4cee-a65c-08669eacf4c5	fa564dae-0dc7-4744-8e61-8dbb797093a9	volume	OS::Cinder::Volume	rising-nested-7fldihblp4lh-volume-yjiiksdrghma	CREATE	IN_PROGRESS	state changed	e96a074f-b74d-4b4b-89a5-819637b941f8	1795357026.1197832
97	d743f9d8-12de-4d0d-89e6-8205589b48cc	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	volume	OS::Cinder::Volume	be804d34-b236-4b90-a8d1-67bbffa0b2be	DELETE	IN_PROGRESS	state changed	2756101a-a281-492e-beb0-ba9de98eaac3	1795357026.1325462
98	33f8fbf9-8edb-4bc6-8b85-45c43a2805eb	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	net	OS::Neutron::Net	21a6769c-b46a-4d75-a4de-0455e0d449db	DELETE	IN_PROGRESS	state changed	b8f98844-9218-459e-b65c-f18cb1614667	1795357026.1326206
99	4fe76a67-f926-4267-964c-57364b737534	57eaec94-bbe9-4519-b142-8ab05244691d	kept	OS::Heat::Stack	57eaec94-bbe9-4519-b142-8ab05244691d	SNAPSHOT	IN_PROGRESS	Stack SNAPSHOT started	\N	1795357026.135145
100	ded01406-3eed-4900-88f8-7b20fa88b79f	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	subnet	OS::Neutron::Subnet	f0da21e3-d70a-42e7-a1f0-7542983e4ae5	CREATE	COMPLETE	state changed	b1cee323-9cae-4681-b651-2edfd5ae0956	1795357026.138194
101	98ffbf64-e20c-4208-b82f-26c4aa0dfcee	fa564dae-0dc7-4744-8e61-8dbb797093a9	net	OS::Neutron::Net	c34a7ae2-fdca-410f-b411-3f9ef24ceada	CREATE	COMPLETE	state changed	7718d325-d67a-4efa-b785-7ec9c6c6cc69	1795357026.1433449
102	3a65013a-4a4d-49f8-a040-3c260da0021f	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	net	OS::Neutron::Net	21a6769c-b46a-4d75-a4de-0455e0d449db	DELETE	COMPLETE	state changed	b8f98844-9218-459e-b65c-f18cb1614667	1795357026.1619043
103	70c3c114-7bdb-4906-812b-e07c440e8663	57eaec94-bbe9-4519-b142-8ab05244691d	net	OS::Neutron::Net	f6152ab7-1ef9-4aa6-900e-eaada53e2d79	SNAPSHOT	IN_PROGRESS	state changed	5f7d51cc-0c57-4823-b221-f87578840fc8	1795357026.1638467
104	21d1061c-fa90-4ae5-8fe9-93d9c4da2e23	57eaec94-bbe9-4519-b142-8ab05244691d	volume	OS::Cinder::Volume	340ebc0b-997d-4f44-bfc8-5d771bb604dd	SNAPSHOT	IN_PROGRESS	state changed	96b74e06-a2c3-49b0-9970-beebf56d7cdc	1795357026.1639352
105	0d03d3eb-5ec0-4a48-abee-86d7843d6cef	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	port	OS::Neutron::Port	changing-port-b6fqcch3fugj	CREATE	IN_PROGRESS	state changed	a87078d5-3a47-4442-990d-93f3bfe4de24	1795357026.1694925
106	2b0257cc-df68-45f2-a1c9-355e532ff178	57eaec94-bbe9-4519-b142-8ab05244691d	net	OS::Neutron::Net	f6152ab7-1ef9-4aa6-900e-eaada53e2d79	SNAPSHOT	COMPLETE	state changed	5f7d51cc-0c57-4823-b221-f87578840fc8	1795357026.1817825
107	3a60c6a2-d17a-4a3c-b589-8fcf6d744da1	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	port	OS::Neutron::Port	3d2aaf6e-0cfc-4451-98f0-0d4cc6b68c1e	CREATE	COMPLETE	state changed	a87078d5-3a47-4442-990d-93f3bfe4de24	1795357026.2033882
108	990262ce-b3ab-4a27-a669-af1400b7dd8c	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	server	OS::Nova::Server	changing-server-hrlpfktysf4g	CREATE	IN_PROGRESS	state changed	d0fd5a51-dfaf-4342-9249-e34baabcdbef	1795357026.2225037
\.


--
-- Data for Name: exports; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.exports (project_id, name, stack_id, value) FROM stdin;
\.


--
-- Data for Name: imports; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.imports (stack_id, name, project_id) FROM stdin;
\.


--
-- Data for Name: inputs; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.inputs (id, template, environment, files, parameters) FROM stdin;
b4a04a8d-e8be-4d2a-bdd4-7aba34e0abc3	474a7972282199786c17dccb993c458f33c7a2090e76a84241dff0f15ae6a31a	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlf_z3m9jgM7oTnmGAeMbB5ddHHYT0MEG6k5nzWFrZr3rH38V6pOg0Fw6jqnQkeHd-6VeXel4L_MAWLL9MzMLX4jEErltN5i_Qeb0W80mWVouNQIpgcebvyH5_NsO5ovDlKvxy8N5iTzIgX5N4tkyqSWA==
44ff2965-f929-4d11-bb49-3e197692f4a7	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlfwiMwIyM4g5o1gEBByJ4dw3sk7YSq0s9VxLHtB62DqycNWh_R7haJOaPD-p0I1n9eA6Pd8m3zmfL9-iRMGrdyIt_0zKjHvgYlQzrT7BBZ52NyWDGrNAJGP_xB1OsvuSTJ
78b63b34-cf20-43ab-9c50-4fdfce2a8c9a	c8a83cf939bec07ecc253791e004fb74410079b18464974536613941bf26e696	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlfKUBXT-MfKS1ypoqXaFieg433PACi1F9vTTitag3WKPGhagIJdamGAjKbXNmn-DJQO0dhgBIM4sbSL3iYHUrz4MB2imnCfvBSsw0_3VIZNKw=
f53b3ce1-7d00-4f94-9002-f7adeebc0cf0	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlfmz5t2arb33u6D2JiC5Ys_bTacxu5lqP40i_4lDV1xyTuYPtt2T74Ab3HwAysE_MMCh4g1GmTSUXANXL3IIWekdHnH3h_Bq59IvE9L-VAMMMV6z28oDxSF30QA4DgzXx0CZurk7bxrvMBLGOK03yc9g==
30d1e4e9-eec1-4d71-acae-0f402f137931	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlfvyVIEKS6HghscdPQv7nDt7jv2cpcdg6Ny1-33SV73qNVLAArqbH7zubGKeDDgSnNUilRzuxTVt7Gwz1lo5F3IqSBylnkf-GWISi-ceoiuqfyAWBq5SqWSLr7A9G9Eej4Oiw7r0UN7szN6thRRmyTXg==
b1e1e463-4ad3-4581-8d24-13167f378c23	998cdc5268cb5606af988eb9f21b970cc9ce24ed103299a7ef7223fe55d3ce91	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlgqE4ZxKwjkcobk5h3tiUp2JqDh1wqSbITrznMN4FmKacEfmniYfdzLJX_CxY16-q7H_9VMy9denaZs7mxjwrgVv4ri845wXw3V2iTBXysmQ_gF1tEHzkFoR00g1VI9LOglmFprqEZHmn_rlfhqnESfw==
7a4f1491-86aa-477f-9bd2-d72d359477a4	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlg_FqIktNNe_ZqlF6ehMvJrjWSpLYyGyNNY_MpY_pF9UhKcXRn28zbLPX-82c8QehYlZn-58h1Qv_GMkGHG5l9gNI1bMuy-qRyo9AXlVbC_VrV8AVXe6SsNpaby3VhROX4
25b0b84b-eb7e-45a5-bb7d-2d977c5c75cf	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAvlg0QBOYqTY-ATaGSui-arBb_g1Yt6mMF2W_y_X4XtPaDWzb-2QP2iZPEO9ACrcBdU6OiK0L-CWf1jmLTRQ91Kin3_MhzzFq3ILcSYpmlCVJQI=
5e20c43c-e398-40b1-91e3-05dda0822272	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAvlgz4HOVlbQGszxFcSRPgaMQdj1ctbciW75PjvWQzpYMRlezfEXyJ7MyVXCgGkcd6GAdsE2FgzNHcQBvV8b__ajlxg3IQyn5kOA6w3wjQuNSJk=
0c04a73b-43dd-403c-93f0-55e45f13b59e	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAvlgGoQ9AkmdwbQXf4c-Pcu01VQpTHSuYne1B8RqhueoW6cDZh5kQBSgBwSCuSgdT-Rx7pqeZaIfc8mgk8UEFSmwgV6o9LWvc_Y-oQRY8aAf5pY=
724cd79b-624b-400f-862d-3a0366d88535	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAvlh-t8frfqL2Sg-b-4gz_WlFZpbr-DLXzNdtG4QZc8BI7T83iG0TjKCH9duJx-JYkFIVa84VW611rdQdORuMJR4H12tb5wIU0UQi9CzFP8YHEc=
08857dd5-5815-4533-bf8b-3c0868d502c4	775fbfc0b984871bac7c542ef7758683af5bf4692503c4ce2a0ed2049b3488b6	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvliFRgJ-oNVVFFdycYdw4m0j6-anrI-FkkRIRv7xlGWFVDLsyvzJ2uMBXZKqEUJlyK_GloeuMZ6L1Ml-2oUCxY9v1GUI8tGMvce-H5qwsUeazU=
a499e845-4165-4621-b261-562d25f9961b	94a35c66b65b9f7d62bb584c3792d867e1db2bd2e8427f9eab61e22d86ad25e7	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAvliMdLT0folMVlHFlRs5Td9ArTMkUlWMyEMpoI-2I3uyhCafQWqET6D0oNhoagPxgkma4cEdFGw5L0NpAqvFEOpSEEnKwLdR0-_gYF0NgHOlEM=
ebc99757-14c8-40d6-a8f6-fc7a31b32e05	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAvlib4X2kBnUevAEnmSfUhnONrqEiaOYj2lEhplYW46Xf1vWTRyqSrmQLvpsQS76wOR3qg9CzMCMwdNtbjp6vftHsvWCnbFYeJ_WslbhEXxMeCR5pmXz1bTgCu5bhg3Qf8Kr
\.


--
-- Data for Name: operations; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.operations (id, stack_id, parent_operation, parent_resource, round, action, status, reason, inputs, former_inputs, observe, request_id, user_id, user_name, created_at, started_at, finished_at, deadline, owner, epoch, plan, snapshot) FROM stdin;
8d2d4144-c243-4ea7-9f34-80b7718e0478	985b6928-e5ed-482b-86f5-8e7af47f0d5f	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	b4a04a8d-e8be-4d2a-bdd4-7aba34e0abc3	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357023.2611895	1795357023.2821	1795357024.0448885	1795360623.2611895	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlf7c7F4eGiX_RejsE__hAMMJXA5I7LtQK7LLl9b1MsumCYdoiCgMBc7DQWPlD2wgClDsKih4NOHewkcyqdSWfkAmQZe2q9U-PebZWSzWIdvHfG74zILC44AVKNOBp4JzLHufNcN4zwmHbd12vfmEapojOO1eVRJVMtf0N3J9uc99dBoMi5ylp7koEx-8YSa8lXS6W5M_GsOV55lVI4sB2Ii-gMBDnrUhq-esIgjpxRebXaBHYn_To2NPqa1F3nLyzegeXki_m1-IcD2cxUqbt12A-W2hlNRgkR1kATeQfxbXjE0OERQ4Cv5kCQNps6TN89jnDn3uOFo99C81UsAKdZ9czfPVg0pDHp8ZwlMAVgEv2aOx9JkGspxvOv5IEv9VF1WkZUgyg3x9h8af3jOs5qXbYFOj22dK5_hncnpextTtNLK6okwTwPMxBjAToGax5X8_YiLRd7A5cvD5uIoZanmkGwqUB2nCrAfplJZ4GqRLCqPFud4Yw6cus5RTv6XfW7FfU1K-v7PpFcJT9Zo6r1FWD18iKLeUVlbpZSJTz8X-dJzlAwuPLHJaVHIQnvrfDKzcaPqhciSrBdYGt7a75ZHwzAdafFem-q3h_11pl-EjcIdgCESv3fTQ0NwYG3CjWfWYKCZfSM3lFm0NVXGngQFCMeWHqbFHHlboqSbSulsGA8j5zp2eeK57Zhpw7DBoeMXazeBDu3fgH_ACyOdrVDVUCgP75D3d2MCsEXPIHmonaG_wDoMBOD9ctqiRHLLEscbFCFTHq4bifMjpXBtE59c-0hpWsH5v3y6_fBYsG1EfkBV4rnlcV4AjTzyqkKKMf1N4fyxXSF2_X505u9anYXiQWs_Q2HkEqUHdkaf6WTVXbzovzH_J4O9Z0hpuUckCIAnxh8wTKlw87Ai9Z0i3V_SxmQE1vt2Ya7JKe3nDAJtW-yoW9zColy_XnZQo-QRBPKkWaOZpNVRwtljwQ2SEkIBXwN2kNzJGb32gJx_r9KlAauqtfljAkfXKgj5e9VSWbnRoTvzdmxQ6_C7GEqHZ0RkdJrndB3w8DOIOynGBFQYmXH3ImuL-Mf2nRDHr4s0xwmrJoqbZYeXECKvEW9v99I4MGJG7RcSpvLfzXNYAP9hY0TOoGXLubVA-tM7fo3SlQVFg5Lgaowg-C9jrFYbIX4ct_Sl4WjQ-kDiwcwWR68hA9KJTwJHRhqou2ggbOEpCf6_DyP2poRc0mjnspqxtfBnImvxalnAUdMlqNxEy1g4uzBEAqV0QOrbzkFDrvfMmf2xU0CULmLDJ3UxXogUKs_Xlu-eDSdoBXDODePaAjwJugfldeVXt4n-1R6rrd1DfgfKQE6oXOWgYXGLIgebTUPivFOWVrQB6VenZ7COGKnZCn2uAY59KjGMKRXiqQIqZwadadwVWr6v-SD1us83u2_rjt7WFCR6aZwaH-jvwJ7AgmQc_een6uWzRkAnm_hqSDkUktwyTYp8NaFdF3T1tIIMYDKHVDHjl2k_wxl7FKVK7m4XRERH7SC_IrHlHlPzAwu4jxhG8Y97L0waY6gp_556-Y8FPsJuLm5BjdXaAdIrvptde6eAld_ZNj0gQVt55_ki74o6mzarFEq1tzM7mI6-wvxPengeZhFE_SmmJKIvDqNeAcUxAAsSR7Y9isJZPoFvPrXTSpb7IDOv8EoHuoclja4RLS6D1tS3qvzg0f9nvPcCElh7lDufyFBrv3bM9j0TiZ0SiqTJc1n7c6ChWPZ4bvTNy4-jhKVOAqfPW7NmPloz40K5QBc-KFqXb4FTrHXUmmWVD-WRX4Pk44EIgh40PrjSR8TQZutGK3WXUuFaRFq50PHzi9o0Kc9u3ifdye-HCdHYDesVoI6q7xRagH4Qvm2PzFyc3PNLcfebMRE9LmMkm78Sb3qNaQAvn0CNIbe9oNDgyu9EVIs42vy6LE-1B2dVzjCPkLP5l_wCSRWEdrvmhIiCwGqNsLgCF8kSwZDkl-b4L5485qFshlHS1B96jL58g71KYueTLGN4EeMm5SvonerBBNI2mCTzWLLw3ZZkB_MacP3z4RmZe6HIXKASfRtkWdVMUiKhUQJ7FSL77in0IOfO2-Fr9WuXsr-wO7GyYtl7GcI34qTpZiD9I5pYjnXO9BK0VvitWSTn-W0RGAEz8w6udU1on9sQZchys23bCK5bc3tH-6Cv3oKQLecWebzB2zKYIHi-Crk79TN3xMnu7Al7FoNV9ysMdWOaojkhHhXp7VcQ661V-Vdyyi2_qg1ie77NiwoPepxltgntDJ1dDLyYQT8RNwwNajnkKwUAhSsxcxO0dLSUX62A8vFAkLopzk8jNcfs6D5YFqcVTEfOznclVmdSqQT3uw-1VBTBFI-qrYLPUFJQmLA1HAujD47Wgr0WSwWtwFucD5VCCXzMWaJ6XIL89YoR6yGVbQrJu9BFCVFEHGFbrC6qRIG966ciaKJS4qLfBjD5P-XUvYmPDw-kfM5qHyRL0tVJZ4jGfE3rFHhcFKSIYXBqEQj17QjwSoRpehMdN1X4205ZwfmGpKkhUgd-cHZyPdygnQdbdcYcWaMkMtYiYXBhr29sqL-gFt6H6cxgvhnG9uQwmgN062XPyF9krOKUBRWRr1Lf4nKUcsuuUgemUJ8kOJ6F1SOaZVH0PlLl7Wz-CDo2p-JmaOEJNIdw4TiFYtf0CVvOZVvHMsK8Ylb7obS6ylwYFq74h1W4bHM7I6Txl_nNsKlHNEPMbgUXrC05LAMR1Udc3jNyvVVfyRZNzbdh_OyRmouj6ensZAG18El8F-DgKwT2JFAaXHXr1KYqbrM194bwemlMbtt7m2V07zQTtmV4YQd_x0AqVrwhTMA-aYLnBBj257bpvxK-4JW2OpHopuwxxYo2zY_WZRsKz6FerX6BCToPZn8V7z-osuR_iPFNz_iLe1xnKXf3No6rQm7lkdtumKBjka7k47Wy6oMKuOpPPP18_8Q5WBj8CZpWAl0icyL67pTZ97tLAB42ODks2ZOVqYQutdElVPQ9cE_KQqnsD7af2PyZW1u8pFdJbzenUKIF49-L5fTlie7JA9EsgN_L3GDMQyD5hv_O7vqtM67aD5yz8dZZnR-abzA8hCbxQmF6M37r2uzeRDx9LvLsMopQdThooRtq4gIZdG0Pcp1q2tBQA5Y1FFucLeVkrasCOCmDcmm_072vaczGwNNeltNzWg7LsH-8lc8POa5SPt545OL-e0-FH3ndgLGMStllEG9BOaAeCXI__sCKPWGTm2f7uhIFZTB8odpRX6Bc4GeEEMYsDqSgUDKdzG8BQ0lxBQfsrx22X7w5wGnY1OgxsR6qyA4T-plmiDemPEe4D7BdTbbIBmrmE8WYj0VT9y2Vy0_rcUMap6FkkhE9XQ7RXO9g_TFYsNHjRGVTKuFv682ARXYhEnXUXnrV3XbqPqTODE10JzTDNUCP_GGXjv9dJRoNyynBpln2zWa7MKgCVqml2RlTZmthZdefuW3iWeZr04rF43eGL2xNg_z3JvNuUYqLqw0_Am4OXN2koUy5D9O88r7oniC8YmenrUh_87wNf2i-uHrSePRSbswU1gTfzRVfFwixE03hwVYqctdgGFc-ZLFBVxHVtphlHe7xowwMidWuFgG6wKnQSZnpR1lMoFyXQ7qYEzU_BVYPtcBpP6-7zhAJJJ04RxBxj0Z_-yriZ9q80af1Mhj9MIZuT8qlzDNVtl6FkuAoPW4lPIoRe8KhXZvqNi7lEhc5YEtcBeTLhraEflJyeRtkUhrhfIiDmWbOvuye-SfN69DSBkosFgaW8wKYpGYpmpgJZ8idjGtBWrhbaH3KG2G250fWuUqx48KUqI3jcOdQLg0v0OtrHhwyvEcV_JQMYCmVcyDIiIv8Ay9sFrkR7kzi3HX1S70CuKy7wg_eZZWEGExh7w3ForEj4xNGhpc_DNm1InG40SaIO7zcPOcLJxws0B3t0WcmECD83GJsk4osqPdcflsoHBSmkTgJrhl2oyH62xBC5B20m_TLrKrNkyOox8FIzL7vHNNeLaL-4U32Yhur560lDUUtRWO0vZ1geHRcZwZMFnPfFm1baJtpzI1fZ-I_F503RDnAXPwi-p-Ynm2mkzz8YwMIIGjsfWD0QNZ9xAedNeMpr8aCzPVn9tRC86MMrD9HwJ2GRuwBv7sdd0BSpdPd2YL950XYv4KibBCdloRQ8MOSS-o6z42NQI-qnp6V11JBxtid6MDyHuYvE3W_6OuBPyPs7Z7CMu_lJvyPWh5pMAlP6x_PI0asbyp8wPLaLFH3uGN2zockGlcu8wjQtr7cEJ3QVxMNfx_dK3fahgprC5E50WTK72oXI5fnBzRsN5VVS1blQ4v7E3ygIYBT25h0GZ6XK4OTwRuUtLz_rLB3TLSia81TBKCJPOwuoPEVBU2kcd07rZsl5kfO49gV1M0OFocYspFN6msZ7b1UKfMEcqIgwjJjKwV7EWiUeqZuhHit9UhJzz7Aj1nCSr5QD-j04ce6L92LPc5zXZxZpX8vsK1JqINHoDaEFoHvJLtgjcjZbiFwMh2grIeEq-sOyXzWOBBRWoWDIfPH7sShen5i7oAFAylJpyBg3RtTrNH1NtAwTk4v4h6FtIB5eFsg1DXrAxok_XsRr2o3-KusoaH3lga7v9UdNd8Ka1E-DQqU6hgD7Siw1FyYD8zO1LSzu7MPi6Ktbtx4dUGkhYFwrpDWY7uTHIGcZBQaquAys9M9HtfTAvDBsSqtfHro8I-eKCH7PjvYXAVpaoiefEXsV8OEu21nD1Hy9m3DOQQKTRS70ktiX5rQ4PBq_WubSsXlJwUQ_REYqkR080d4w-YXdzFfUKatwgN8iRAqxDRvJ5Kh-XYeMNrf3l-CvGtzcGLn2xlSzhQ6whdX1weyN0YNwP5Am28bmEdHtz6_6IBiUtZrt6gkZvuHfeazjUKZRhmtQeo318Lt_NF9dlcY_x2T1BI3e8U6cr_UupI57aPVtS7h94h3u4nMi14EEghhTcm4uFCtsvqmU5qM0v95hiMsQayMQZChSYk0CKB-OGhFWKbeJPg49IH82NQTJI6jrt5wCw6wEdIGkHfX0BPQi6eoi8ZtLk6kpoufMxZOMkQrjviAGDUsXb1e463TAnQQCagou7z9ipt564voH77xeHMEwh_xAnduUPnv79pQmESfiInVDLjTUEX1nnKKro5d7dZv0dx2Y2S_kegPmUgPYxSbegNqHdx9oE=	\N
a3685cb0-f8f4-4600-9a8c-f7a19e62015e	f5072778-4a49-47e3-982f-5473da261cc2	8d2d4144-c243-4ea7-9f34-80b7718e0478	126e9058-f14d-48e5-99ba-74086563448d	0	CREATE	COMPLETE	Stack CREATE completed successfully	44ff2965-f929-4d11-bb49-3e197692f4a7	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357023.3998184	1795357023.3998446	1795357023.795571	1795360623.2611895	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlfE8d5tqkhxLmkT_rwbmfzRBDeYRGA5zO23uAWbF0X9wpR5FQaCG8xDPdO4n9HXOJWVb06Etl4913Go3j_gi7Cnb3D0SONIG6IxOFiQ9mmev4fySUanQsZ9T-1_wMPUyyVEu7GX0hlB5zg3a_CpzdKbNWY16-It88pPbFLtvBlK2alLN1pCNTiUe-OYJ9rxZH3XmQBKdOGLBpiJYQYl6P9bIXDMa7SwIZa_gwIbQ9_VCLPuqERQXdp6uZg6jeuIiEJBSGdDQkKPNErXjs9RCPHeWDqWToqHmja-eV1fObRqalnCBy_rr3z8Ujuysi997hvb51FUn0HVMglE9sdene4PgX_uh4qyd8MX6R8VFhr85OTY5Fp5loEWzKs2wpsR6RPzlRi1hNfVO3TdlpbGZzGg-b0aP49Sfs4Fd7hzYozZD6k6daKKqfx6y6wQ_0xmJX7tjz6sECaIUgFXpf6WYMEFNzEZI8-Xotalx9JF6yF8U09WInR2js0o8pb98b3mpxVt-406OKR6y6K5DJuuerLnnVJeQvevU3bHnUu-oM2jDLNV9ZyJiS5LPSW1HjDJEGI5bvpOpXylMbXGp_I_KLxLG-KRZEl_wUPiY2iqQNJ6T68rcJ_VqXZfsXyDaUiIt_nwqblsGlSa13qj7y9ozO4Wv60lFuXVAx0tNUBetlFRp2FUoZXfW0rZy8lGCnqCkAbR3B5xzQ23wLfl2IRYrBgXzbEO1gkGFEcBOfvU5Wq110SGXQPv6HH_HK_6MV8ecbuI7d9KYbLfYTL11XznpDhF8M48vgI83y30FSyx8fkoyrlpExcaVv4pERhIhAWtu1BVV5_c8kLngTYfTkTa-vFUA==	\N
e34839be-3392-432b-98a0-100c6a3bf9ea	dc46d02b-9fa9-470f-a052-9925d6e977de	8d2d4144-c243-4ea7-9f34-80b7718e0478	a5beed40-0c5d-4362-b6d6-831dd8c577e8	0	CREATE	COMPLETE	Stack CREATE completed successfully	78b63b34-cf20-43ab-9c50-4fdfce2a8c9a	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357023.4565947	1795357023.4566123	1795357023.9464247	1795360623.2611895	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlfgaeX7cF9EL2-HDMdANshiRbpoiOz9Z4xdtwYugP8JT7AJe-jlQeyrKV7CElW2jEOSP5y6E4Y_0n_dXVExs32KYhYD7njcx-8iBeZmpjlXRUlJ6xiahMJhpX4fcC0OXLcDwRBKoN38GKTbhYbvdrVldXUytsvlpci6QpKZlTiG742kkA5hRBH5x-z5Csp3beZz4teBDQjd5QPfH10wV59AHyWq2mDrhNGERHwwV7dzvhEPEtszCfPdce5MJM0f_DoLLmAqrnr8v9NFFWmWHTDS-W31IrEmf0Se7rnNS3sSlQ1mNz5XVz-3gtiHNgUHSL0KNZHKXQfsrT0uiJPS373cn9EA9Vs_wYQsIfUMCN2-SD9yP4Ztcs6mra8qbP7TByYBf1pmSfnCMLMilMprfVRtJMn1JVgt8PPijs5i5na2U3T04RNW_ERY0STpiJhUKfpIwmW7x6xuV9Mt4CLJZZAJmS9r5q_UtZWyeK8I-XXXYjwQufGTBXKxYc4hirsSVFZn7n18YUrKyNZTJSpLMDjVE9lg6UB3MdElD8aAZncIWaSqioeFkfHlKUo2tuJT4GPf20eU3hiF6fRs4SBrxeynjzMybAY0V7YRQGZ2ItS-tejSnFB-TlkVrl3TdZLnPONKWn8H-i3SFXI38xrVjA2QngOGSbHmlqZOIQ1PrVEjWpQtdjN_-dUc9mu8NF3_bVwGJyZXDi4OtG42OiUKQajnaTmHDO1NgGFntm4lvQ169OQl35qYjIJ3dc3nbCIFYRcVpVMYD6w1gmSyO9zQxdp7AIhEsj0GG-pSZ6q4c60JVM3XawS7sp3ZvD2wRMxChOn	\N
3e730da3-89d3-4f5f-a1a7-b818e9e9f678	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	e34839be-3392-432b-98a0-100c6a3bf9ea	f918750e-9007-406f-b658-87d3ff66c3b4	0	CREATE	COMPLETE	Stack CREATE completed successfully	f53b3ce1-7d00-4f94-9002-f7adeebc0cf0	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357023.533947	1795357023.5339656	1795357023.9201777	1795360623.2611895	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlfRDCU23v5mHkA0f2aioUCOvyA38S1K8N9pUg9H_Qx9d2cb5M7dT-cwZc4FHVeTzhKCeddmWTY07tkEfQWT7noBWVi7oNY1iU5pf9PoYrYgIeTm-nnM7bEbV0OntkjNA5BJm41XQf5hAZfwbEGqopX1A6HTK1h4dpPyL7E6Dd1g6pz8Ke5fjEYYxIkzwjkOzQ2UcKZjj8Vxp2akGU73kLUQVjnwDM_98Jfvakno70dY8UDwLMJCywIU0r8KG1hZcVtvZq7Fv8Ksnakyh-TNmH4_z4zq2KTcaB7GG2oie-ca1xonBntsL4tuJIEt244f2-ri_oyq-D3xiIt22LdW-m3y-gKUltpR5fl2G8RoZTeXhXp-STt7EHJCRRppbPBGd2jRh8oVDjFRSPUzdTmXsJdpwtWdKnAYHP33VKpWJgftFs9iAqPENEDNfVk8SGa6-1Q0jnx4Ww7jB4s1wOE11_x5C4Sxl7_qw6MYA4Xe19go2QfCB_bsaR96muAH_ZFfHGfOwHQepEtppxpyI-zw8rWGEp7KoGGhrRMbVZBID7BHX0tZXuynRfZwnh05UWqDpIqiFUmXjOT9kxInUOxMwSnKOO9LKWqhAwImgl8X8i_eHdDAWE89ADqksQ9K2PcPn319BShtjJKxRlBybSzAuosohyeDeeCKPB3ROaitl9qd0Zq2lkjJq5OvHJnXwq_Yv3uWd4i0tr40WVWqs2Tbx2KzatHtKqjYSH6KrKHu-Lo4zCwNoBP11eqbF_oTcSeLuqRRFikvkLOqNGzsc5EalvuqNYKahvCWC__h_Vlci5eLG6_amr3deWd34W9UQ06Ml7dCLJBc3LRBkFqeGfDJ258Sw==	\N
6b78be94-26bf-4eb6-976f-9d85f380d3ff	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	e34839be-3392-432b-98a0-100c6a3bf9ea	5d04b593-a520-4978-a464-82efb4cdcba6	0	CREATE	COMPLETE	Stack CREATE completed successfully	30d1e4e9-eec1-4d71-acae-0f402f137931	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357023.5340962	1795357023.534107	1795357023.9358058	1795360623.2611895	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlfxnpqiqFAX3B3cErVMhefycUKJ7gJdOaXhfYvPscQFwmERDr-j7qGGx-lrQJ5NqQ6ppQwHRldEcnev9cJNmRC8_crYOkYDcnsQqNWFd17GEq44tm7b0R587Ugf5SNEkprmDb3ZO0M3D45vCK01SpmIghMyTzLyILy8uHJwbmejmGGod0v5nyuR6yrDZP2l4LYBmF8v8xzjXqUuEuXoGhNoXO6uRh94lDfd5FrIkHw7RWN3rdTsSxnB4jB-K4CVnpnSyKsnCEn0hlBHMCjQPUnZNJnWe56cyKqrJghsbfx14c_Gid_0L1N-HI3P2xjxMbcIrXYvbMFKBkUlNcgSRmP2fDd1F1_ueF3NAVWvl5dcfq8rCgaWi6koYnbMM6GvgQ6bC7gl9eSEd9C0fIJJqGPGzRBzk_JOyTSRgVaq_dkZFmbZFHD94_9r5OkxJeJzm00BHNWyB3cMrXdtGmYiy9Gxu60N-MBRPqcFH3SFakcw-uM5opCLW2zRSY7ZAKTGuRwHDtGCeQ12ZVgsd-WjWDyZ1htQjoWNmKRg9vtY_3KLFolqwC1Sox3_6ChDk7HbrKy_nAQo-ZzNktRsPVUNRP35KYVQEUzhjKJyeQQlf68BqneoGmAqVOIiXvFk1oQ1BBTonU7C-VtADd9dsI54ILeuu9Vjno5ClawGUq6ZyT27xw5i2q_fwFAo7D1Cg1-gc9hgT11iwIGUnNXev6hPPbYaEktcJi4OR31F3xTf0eVpwq1JlTw709Raa7UkcO8UpamTA0f5wTM-A8pxQgmXMIMsKJXiLXfRv_O_jzcXHIaTbI95pEWht5CAPVFBC-DCvLUQCluxHVmxIhecD8kHRR1CQ==	\N
f2c87755-fd75-4320-a5d7-661e4568bc01	985b6928-e5ed-482b-86f5-8e7af47f0d5f	\N	\N	0	UPDATE	COMPLETE	Stack UPDATE completed successfully	b1e1e463-4ad3-4581-8d24-13167f378c23	b4a04a8d-e8be-4d2a-bdd4-7aba34e0abc3	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357024.0603502	1795357024.0604196	1795357024.0917869	1795360624.0603502	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlgWx_lbyu2Phii0NDq5IlCHTlq2fI_3Ff_dWGT-G4u8BcEw5vnegqU6GVTEMu5YcVvCYyc0_3Q72qqfdq5sMhZ6I1WX7HDmlL1hEiurW0tADkd5OeV4nsvInyoUZWgu4eE66MSGeOZ7oL-UD33q-9m89KmqVKKz8PfFIufRXOYP4ep5BUxjL7T6D7SXbT7NJoA4eiLe7hUvWvrU0sfaKaiOREhAa7PIiu1-vy6NMkqm_RM4TrxMM66pqwdHmOkxqpExjQCl0DCjz-gTQSLV5lTRG3tp4qmnfp2KJwXi55t-hCtyetIcF4aDjdnDY1YvpEq51gt0rpBG2Bk9cCUt9j-4bRjHfNVACCcILW_W2lFQmzo_DK2mE76g0h3_eccTXpBkZqViCOECNriPqGDU4aj-bXmJufuY7sdUnhZtq8l6ypVicluUkFB3pN3euhJ9oIHGEeyaQnMmCtwmH0U0kLxVCi-8mDerCt5rr6tWERGF0mylwg_bBnGwcZVauqKXCfQ	\N
f01cc21c-880c-401b-9476-b11d971ebc43	f5072778-4a49-47e3-982f-5473da261cc2	f2c87755-fd75-4320-a5d7-661e4568bc01	126e9058-f14d-48e5-99ba-74086563448d	0	UPDATE	COMPLETE	Stack UPDATE completed successfully	7a4f1491-86aa-477f-9bd2-d72d359477a4	44ff2965-f929-4d11-bb49-3e197692f4a7	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357024.0768235	1795357024.0768504	1795357024.086251	1795360624.0603502	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlgrzmb1o_fsvPONxfVMMYRPTozoFD24EEgMurDLvmt-fCF09lUDdSE73ewsb11h0setKiDUVZDwujGGtCvl7C6-dAWMhS-aXMjx4UT5RKFMFBj6JrKTpmmU9Ys7Mw1wck-4D1qb8508mR2t945cFyjhUdNhRjz9Ka-enNtAYkUxKrjcGNbvq_ZSHmuBT8N1SYLPBdmWd2ufKP8QB1B8NgLWKY93q1zPwccHvCkCKHX3pKVm5WWSoSWWMZr4hYUwjqG-phbfffu_puzcOfesnLxXK9eqOe5vMnUG5vsLI1jFgTD00f7YEGJdT0qFQAGHIUnyDSC4wMFFw3Jjz-kt6kCINjIxVL6UAMhrFvYaYnP-7JE-Qq3DwgUaELONwzdAZKxbX1lIsuoFYxMW3uQr0niI6lSbmSFkK0y4RyhmyAME51BnfE564fPAuSLZTHkjaYo8V4ZNdlGJldiZ5XqaNizGF1X-YfJNvzlyvCtI4dLvS6MErZWlrw_JxF9728wFFpl	\N
119bc25e-eaac-463a-a6aa-534ac1d2e610	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	25b0b84b-eb7e-45a5-bb7d-2d977c5c75cf	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357024.0979688	1795357024.0983734	1795357024.3887396	1795360624.0979688	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlgjJWxyKAEHVYOvp5FNCOErMx7SBkg30V1dwV5iOUbiBMglVZjl0KUk9KVxPWM9cuoLuIQzfB_zxZXVEhI3ID9_qkkdtabFn9rpI9OzXMG_Ng7dNhLw6sXemkm8_9lP5zOOyiN9sGiFLR3PVU2rrLEnolKaSDuRF-5NToXbqHRt0ZVegZUoy8PXXIzxlVeM26Ncw7PeB_ibfzeWN8qpoh6baLU7YDnqbbABe3_dLB_dRwNDByd0ijNdC_W8fjPdg3Gs7qH3bkMGjNqOxUeFH2ciCmjZtDkniqzDQSIIX0tELBZqIlyd0jihHf6o8d3hLSIbbJZ-mu-_A2FqoMdKIipsu91w2ggOfwCCJM5a11s6mi7ZlBm4svDY3UOuWoQ17Hc5Sz-23hONq9yBqBhtXjAmEnNdDWDo-jJW0RTp-LSe7UdsWgHsw35k2D2HOkcPxXIPtDevPoDlfMOKWyzyZuiHYzoVxtqvzwKTwk0td_PLYF2voWFcVcHAAqW6Ece1iDDZIflIfa2Tx1ka9T8Muhgrk4jb4sniEXFW8AEulkaUPnH4RV2H1oXE1rGZ5knQlmlh97MhYnOLw1rTNWeTLkore6ECR_d8QRGFiFgLzJKf-lMRoyrD8rjdBplZqsIPUvfLlGIBTsmovy4XCKiisY4H8wSZE_4H_cZtUL645PMv4abDOaa58aKTAxWPFF7eOb5	\N
873b2417-5126-4558-8520-76f80490843c	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	5e20c43c-e398-40b1-91e3-05dda0822272	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357024.4053462	1795357024.4122934	1795357024.7266202	1795360624.4053462	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlgtfWL1s8auNQZB3MOm-aBkVIulG4EW1y0cxcLfgNoyB1qiaeo8f3owmgv_2tpjVd6H0FSWZ0OM_hdHROWfui23xF9t5QbWqgpuc6k-83uL1FYpXJmx0fTfF0ER664CDqkmvQYDMyaXxAohEp2EqSR0Rq61SCfonomCFFu9c-kRDAqSQ1mIzyXdG4wXnvunat3HZNQBV-LF6qVoda5hWTb7H08vVQFAA2TBSy3VxsT9HCk_o1adj-WBEFDpqny2unP1jpEiVhqrCf3zhYGI75J6EwtlRadbzsBflN_SWsndLAgM-BsjGs2aTQVgfkZqIeXGIQFkNA_8H2qzWoHCStaKJ_Jtaj3KoBuhuzfx_C_KrerRWMePY06K4Jz2nqlnvpPEgwP-hZO8HTdIWX_phYcpBQx8XNKZtZSXXIERYRKdASKF-F4HdmifztjPh3g6lAa3wjkWfwk8KWhNuYuoVQKG4FZGXvK8zzBCmNx0b8v3nSb9kst1MOUsU6h7ahQh-lCRCFl8LFJDYKIcAIVIgXrO7SWeMSBUgLL3QH9V0bu3P-DX4ajewAhhXGfUd7InMG-n-i1bQVytRXFKGfSQh4V-PwKCeo-jUY_RDwouID_Yp7N3iz15jWb9EigBDi0Wv_lxJ_4xi00mBaEjuzXBr2kS71qPelgr6-SNhgAOskaatXPZTTq8Z0elEQxYtBRuNdb	\N
2884d85a-071b-4b87-aa43-8b85f743a763	57eaec94-bbe9-4519-b142-8ab05244691d	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	0c04a73b-43dd-403c-93f0-55e45f13b59e	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357024.756231	1795357024.758107	1795357025.0450408	1795360624.756231	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlgtaU4s_C-b32hUTiA7j1vVOmTxbeOCnw2WXFm83Jxw5ikWTm8XYzoDX6sJgxV9FZ5OSkm-fXALAXx0zfCndgLM9ChqFdUmdMRqsNT5nRL0ra1r7Q2DgagQn_K3ZHCEkppGKgVdu59g4jOw-HFMurPQJ5Lcy6M12wcCqhG8uMDuDmiUPelAkkp6N_KrBu2h2qnn2Z3zTlqLMtFUP1Cgmm1GDpLRzH5UZwVCq4FP0DK3mBIy8pe3FPYmi9BJ76ioQiTDnKuabLXormuQGXVlXFe6WiYX6D_GkLzMytNtB7fKtI2wIakGAJTSItvhNqv1RRygjl1IcdMt6CBse5PBhUSJPUr6IHRl-V0AnlKnQacg3X26oqAgq9vt611QixFixn-nBeab_Slh8Bo56JFDFD48a7AXl5nL_759dSepMaWnEoP66XxCGaTW8aCU694-iQmB2-0UOrPZM4PU-gBV9yR62d2Gx9EWx61Xl75D1gCFANjX8dP3w8IHB-eubVAP9I3zijzqHjALp056PoDXkpHlUVMafAbS_oZmac8Co0iR7iJgNoUGxp3NUir5IhEdB6aZ2JcjxIHTMZ4PCbtf0Fpz1xNqoedyvpuVwvKnYrAW_zm96_Fg0bLw7BV4j_9wI_OT0pEwk8FnHMzAr1oQYhnf0fSSiwyC9gqQbhHHO3ug2fDLmbP1TD3OaM9G_9YWem1	\N
8d7b9263-f785-46e4-800b-aa0c0f4479c1	639f3b22-b38e-4458-a8fd-cb5057dbe35b	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	724cd79b-624b-400f-862d-3a0366d88535	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357025.0654259	1795357025.065816	1795357025.3788598	1795360625.0654259	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlhGscyAUNEvg4RA4EolTC9UpW-F0iTHMUdY9x5yI0RxTs5xOP7fLFp2cVWxRo_qGnz5q2nOmG-mR51aeC7jvKFnghPp_AN_or5aPFhoR4871raNFlDFr1s-fd7bdURnP0qb7yZq7URcpWawOz0YvO3zbChrW180Kztoc4P583OKjnWf_WF5dHtBZgbfAriKvaANB1_ZRY7M42ukQT0WkQXHgM24XuHIUTV11u58DDr20TrgGCoKLeif-4h0sTQOG0ND7MCz_n0ZOhTLtobIIWX3RbHohp8uaS9LZYZhargezbwNuK065GE7vIZO5vQQb5PR061ARn2NEU8AL0K8DHVp2p3MUCGsdtWAQqy6XKxia8ldIrFxPVkT4_QeS-GjYny7wHa4y3pyuAfroCn1a2O1lW1xB6KNB1PTZSjf4ndE_-otRtTzwnosIvWt0SOH0I7v8vv4H7N7X2Q_dm7r480xofBRgKTN4f-Ealf1-BIrNPJjSEwNJJ3XAsCL6BNpmKLq2vyFSZqbLRMKjZKhwLiwtwqNhCpyqDD7ZL_Pq_iMPcja1y5RT6M5XgmCMf1VCYCAevY-8YmjLeas_9FbGQf1YRluTT8qeZdQEDMPF8fKLeBMz0dF-SgA0GUch6xsYT_gWBgrJwFBWNbfYNzRAQuFA7eYqUljWvCikn4FnKZJFWd6UGmAKDfACnAAMPbyoYZ	\N
be5631a7-3153-4b32-b9a0-97ea353f2f5d	57eaec94-bbe9-4519-b142-8ab05244691d	\N	\N	0	SNAPSHOT	COMPLETE	Stack SNAPSHOT completed successfully	0c04a73b-43dd-403c-93f0-55e45f13b59e	0c04a73b-43dd-403c-93f0-55e45f13b59e	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357025.3935013	1795357025.3935802	1795357025.7349234	1795360625.3935013	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlhzOavsFz4edH1ui6-M4DDqSZFmv3GgVHjUQnKMSN3AJEFAzKkczi20lvBhZuBO3UkfeldjrKPRQwkOyBco84id_XDTJ7OThBKTapyD9DjhLs9kMUu6vdhXiHk4M6p-cdd2OcSRghlVJHbf1wQujgSjj7V_gZQrjMqFVLNKOjqypmLqjNcvauV8mqdsfc6U0P7FsvuCXYFFkuqvjQi6G0CJL6hJ_3DqTdweClNqvZmhpQlUx0WDV0madPyffrJH6YP7w2ySpIrSzob0IriNNoFL1ZY4EPhL9cSNl-ccUMzfQEsXHgfvOR3VMFq5CtM3mULJb25reN6nrFCYsLsT7mflt57T-WtvpY4pfsDhfTcCaRISgZRtf_bcoPkiElymP_Q7rq_0lFwjB6F4uU_IBSf_-Qckp1NpSul6sVin9LQGDqm9cJfHDD5EJWr7csfetO1JitAJvdsYWkXfjt4XAbWQqZWtjbZB8CBdCjKpZDvUFIobcXx-H51qC-uOMI4a-GiSDcC8IQYoXRRxEtEITX-Dw==	cc9a9901-f65e-4307-b527-2b5d61712a2f
b6587b0f-c8b7-4f38-a754-4857bfbb6273	639f3b22-b38e-4458-a8fd-cb5057dbe35b	\N	\N	0	DELETE	COMPLETE	Stack DELETE completed successfully	724cd79b-624b-400f-862d-3a0366d88535	724cd79b-624b-400f-862d-3a0366d88535	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357025.7548323	1795357025.7549138	1795357026.087766	1795360625.7548323	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlhRmJ3AjOHjR0EE-UB-KHhagYENCmVFM5_Nb4qJ_63dUyrrvXMThwTFbjvEM2XA0XaX5x5rQFRztQsGqskYqwCoNovYyly0fyBy7jTfDlhY32EIPdbqVC_x1L3KUeJGzINsweYkwdLLbpRBljrAuYCAqbLQ977gPy70nCyimh2rD71IRDxjSvGZIX15qRaaxuawZ2FI3pTzaIER9smZtvBB7dmLJicdmwHwTb4yZklg8ZKX5_yJRPvxram-ca89gjzEkLi9wSO32TPURuYSTaapbJhJZj4-Jgfockzf5djcxUzWbgQYvzdpL0-JDJZPCCw0K7kA8mnDWCxEYbuYhMeOCC3aR6m38MTCR0zm0qRzvGHgnfCv20x0aWzRAc-yks8ADU_bpN0H69L7XD9vM2Ju-Z9gpwPY_VRlHsi5Ue8N8PXfCsTNXnDAKMDgJr4Hsi6btIReo5v60eqb6qZ6Xycj0f4kvHqpNrj8EsuBrW8h1GCOs8I-SqIXR56TziZz625RMz-jE7p5uv0O50jfMgHsErjHBimCwG-5eYs4T-M8YFOBxCI3quxtS1a4xvxyZzqxEEtoMa5rdb3AO4cBKZv5pEc4B9PkT4AnO20CGG3rVM=	\N
a2a5f63c-05b6-406a-b629-eca7e0b2dde8	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	\N	\N	0	CREATE	RUNNING		08857dd5-5815-4533-bf8b-3c0868d502c4	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357026.1017919	1795357026.1021516	\N	1795360626.1017919	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvliJRR4QuliZbsoUvfUZhi6KrSn06a1yr6oIoCpuKd9oae7dRzX-QeCNqgCNSCKQFR2hNH285gOvRbX6aO9STEoJlZwc_76iG9cqyvY39xDuGDfKTSYpac_S4QebAOQUB9bbbqsIBYycgMnIogilWtD3h92NsyVXi4sjVOjRC26PNJQleoZlPlRE_nR3C57If7verKzXVFZuOjnSNVs2hc5NFQBKYJGWjaqQi-eg1gGvtZY6BGSCxeBqYxxJDxDhxVt4lWBzHI2NkgjiPT6iUcChcdcAGHn5J5uPQNWxteHnNKLc52tSVkmyC1vJrrY3A18j59hb2SHw1WlyXarqe6pSlgEMgEZhZQXu_qh1nlwCIPuNGGr0IFiwF5oIVSUj95XXU-40ZHIib357ZbW7R0ECp7shY3L2wLIPRuKXiVnC6CMbnhvWxB1LZoycmcpAWP9gl0flwzOMWaE6mLqVDy9-figa_TU7UH7SgrgMBafMayTRXydj4X15SdeoJD_vR-mTyCHPl8OPgx5TMW5ujoULHtqXob5691FXaol0eNSp49OhgkktulBPB1Dj7BN6cWtG1JEZIe9Hn0ayiSQYiwrYY4QnFOvyUsnBXBc6GZ0aN0ziUW8EVXBdkZUzICilOGloNzNbnvCy-NlPNHy_ig40avop7c47mjmRFDwSmWERi6zLTiLQZmo1xKE5eEQvwVAS-0JpwgYLOUCAHnOC7rn-Q5rgnmLBaGIcdE9nmjjHAQ=	\N
989ae73e-64e5-49bb-8853-43ba9cfa434d	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	\N	\N	0	UPDATE	RUNNING		a499e845-4165-4621-b261-562d25f9961b	25b0b84b-eb7e-45a5-bb7d-2d977c5c75cf	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357026.1085389	1795357026.108597	\N	1795360626.1085389	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvli7ZPuCSBgvhnyZI5-1j-_INs44yGfQFjm17GWRBj4-6Sp_Yi_K-tZ4pWP1ropPYKYNCs-BlI2rNLKeijlzB7juTpBbFwNtV665jgvtDo5RtXL8gxU7-mQGCwwPuhMe4icD_x7W21bNaLXbcKzmZFlWMWSzRDY0OwLsTCnTWuNg9s1n4hR4Jt5OigucstXpqQA08gAPuZYVqG1YkXXnWGGQYCG2hhNmoGhqiOiMYKMgLUd06WZOt2ZAZ3py_O0YFXO6TT1_pnAwodgAlUCU1QWVdL4oTRIhsn3iHCSHWu_-TDDnu-DDQPuC0pJbFOzKZuEM4cW46JyNOgb4dD1reqavJjFrQOr8Vmjn5S6GLoe6ITOpDquOYcuERPgjNpNjkiw4K629GPghCenl82Q7OD1EYKW0g7J_yk6e-lzrlvRNmqQI4CN8MexqVBTIraMIOo1D2_wWBbUzUdVo6a4OxM0Y9jLBfbPiQgXq5t-juSTvKEmu1dBXJDlfuHUlDF5CUZQ-4Fz__lRM0igxotWjdpWppPIaPNmyY2BQXw6VOoDBl-O6UkwVOBqLu9MAd28zjNXgX7RYVztT3mKz2P_rc6E_42oYzbHCHkQKOgms94KmJjH_RxOyqpNiNFxcb812N243hbrDP8omiLwSvr7oE6qjVS7UbDF9UgmE8eEgzInPTNdnEj-hPT-IH4IoYjKmZxNOzanvjb0O7BEpm0R9j3mlA8YBgfVIB-DECUEm07kplnO-R0tTnRPVYRFT-FP8A--q7Vso7c3AQBV_B4KFOEDfE9Mnff7205doWLcRrJbjI3EhtuwvfnYfYomPRRRalm6i95J62PhKikQoqsMjqh_bmxfG0oO_UslVLIyQDJVqlmwzrMoR6-YMYryf5j_wIFI2uOUnbWlXl2hhjJsiz7cpAdad0HZNm8FIgmSaMXWemHsJDIYQQWOaLozO5PAw2zWSEiv8ZCQ-GUwGwnF2gODNhYIgpyaFUamOO-3Sa2D-NJmqUOK7z81tNFwigV-q6aY44qGqMA2kYSw8LXQltlelYJgChicVDOV3UC1wbb_EkXOND4v1IFILTuAqBbq34zw8RnixkFlogLn86wbljVU5ItW3cZPrI5Fi2YDmckgz_uOw9WweAqUxwna8USGJt1espOItkhTqOQ-4Tv7RYLdr_BeJjYP4TBp_qvFi6KrEgQY5t6wlu_FAaOUfskNRsbBsjg16p9NhPmsQGSC1feVBMysSKIdkOFXofpfysXvydCXNO242KKN-upwN4s8mHsk9QBrb6vKPr7HqSDBuybySX_rsSEfiajydeZBpnp-3jQCePj32qplf9N_UtNpUxxFIRzDa1p4Ksol0zL2ajKg4E5EpXbn8CPqqmSdMi6eKwreyoVLrbkULc_LirlAlUhxu2DS45uOPUJ3MVJcXtVSm28plfa4abMdmDWZYXKOHNriZKZdA_64Lj-WGqgaEKukcriGnR8rhO-hyeb1is2GkjDAExJLUh0M4Ptv61tc_00--OnC2RCRwwg46VyWlINNmawRgSEcCm2zN9R9YnnrfmuqdbJOTv-6pOdHGWOvfySVK3buA_w9Vrb2E5rZgWakGWQdoq8u4jxzveUvfJ9aOhz9cLw-0H4Jqepe9eG_ZvM2eT_pPjSV5fl9NWNwdHX9qhrbIvrjiF2UM7W_KLwFQcPZKzA4M0BlzSjmgWkAjeYXwqUg1UpYUEJz_YmaT29nJ88QaERgOG8S3uG2DSox4C2uKwA9ogAD19fpts6KktariPgquAcfxTG67N5TU7k3gTGUFkptLg9PNmJuNG0PW1ori_2WbQH0hSsVM5lD_vWi2W70WEAJmNmdvJ4GgwmyorwHK3wjQn5wHt2QruJArT7JLdiZFjJCxCfmS_S8RPiCYugu0EYt-K6uXsawDwIHRRIdQQyCVXH1CYKodUp_XiC_jHNBnouffZb-tBEPuNQ=	\N
43f3a42c-c1b3-4b47-92d2-0c56a897c64d	fa564dae-0dc7-4744-8e61-8dbb797093a9	a2a5f63c-05b6-406a-b629-eca7e0b2dde8	452fb661-4dbc-48dd-9f95-6341c2b7f167	0	CREATE	RUNNING		ebc99757-14c8-40d6-a8f6-fc7a31b32e05	\N	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357026.1115034	1795357026.111517	\N	1795360626.1017919	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlizwNI9xeIhlMzVItrmb3-w0QEovCl1P9X1ZSjRNVK-w80e3zsOOGEE-uSOfO0ZKI9qMCZoypDGyJKSDgrjB88svwgbnwRrpMwOjT23o8nkZIYXoL-AlZLR-ZZnND69OkQekNK5bcpIe2oyYfMUayvlh81LcQIzg0hXi3OtwCq9dIl3NkBh4RJRyYFWzbNMZcVafCQ9mp2ef1FbtLHo0Fi35T1jGTxc72wj1JNBDwQ2OIVGwYF0ghpuPrcxhLXOhvIsMDnA8AIjCJDYKpxrLX4CDaGgADvmIjluDmWoFjXJadbI5DrsbjTzzvcH44itwVaq_ozxV4D4VjrW5YJZhxFMxvn80moO8n52OS0X3qXobLSxSR65x3wZKpz3n4U3OZIwZ8zZIfayoXmwNMREXr2B6vR7WMNHC2qHYu_7nWZu9Ed7looUnbZZ26R-Fsee_WQTPLXWA0b1ZPw9ZJElqAb_R2i8GLNtsi17fouj8l-X-WN-9JHfJ5NQAiiu8PCaAcpGfDkWK8rT9_0DLOum9CGpqkG5IsJMDwYfk1vtoeI3lCXG7vt0Rshh-3WwGg6Gfq7YueT50BzLphyCywG5Q0qHfWqyleOXSzfKD0Z_dDzr8dFakolH4hQMZNRDwp4T3JGTkYy28wa619d-5Pc7ROTW5WJfoEtXtSOZarkAMZRp83FYRS9ToLN-wFdv3rrHD6N_VHzGQSa4DPvq6AQ9pkXd38ASugZWZelF6S5a23WAY56A1Zu_QJ7CsNb6tA7xZ5eobQtyfAIyqWFVr444zau2z5XhQfBDwnBaXmd8xo0ypuGk873feaS6eFtESUD6r6W62eWfY6OYK-Tvc8AjeWoHQ==	\N
b029e2af-a624-453b-b68e-c26a6892bedd	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	\N	\N	0	DELETE	RUNNING		5e20c43c-e398-40b1-91e3-05dda0822272	5e20c43c-e398-40b1-91e3-05dda0822272	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357026.115713	1795357026.1157656	\N	1795360626.115713	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvlifv9txP2WT6pX9fO6uGGigiDRkLHYf6TGSndhQz6yWcV0VirUaGBnC8ea-vDQrVsjFJfI6JCZo0r7AWo7XwiPBF1Lgopr8-MmxpC_gq_izTiDiffr8GRCVdGFjN3rzg3bcu_pYiCwjzoaIkcLzD1VCnquVEVArndDZiWydu_UzZiGWcAXYpV2IN-e6W97EkWh3DMl44RYeFBO3XW-w8iSYB2DNsSB2GJwCCcq0lnLyLwQDrCHAVDoSyFiNIhkMfl2EVHYZxWyeg5Valb0kKgS5J1dFXWJDBsGuWslHTRLYErJYIehL-zpyMxRdl8XUi88KeolXXaR2bRfP-rOiA2bg3P8aGesxtQOkrjDS8FU9lF3gAQO9_SRpbY9_v5GLJJ8ZJvh4KxZjLLC4fKWANXUofOIylLu36aq_T7ScjKBFXqfzmA9xKuOVHb1sVwxhLjcRnPWYkZkzVFYbchIhpmWzUHBv3ebhk24Ci8TmXhDhNbUvsGtN4SKcmO5VlwCMmw-Z0UOkykiSBNTHvkCNcQUtUQ13BS8YLBfS-DTVXCA-2M-FFyBuwCVgp8YWDDFkyo-3q7KOFIaXjB2Tk_CGk2YQW9bplK2Eakzqd3UdwrF5K8=	\N
074cd985-7a2d-4be3-b74d-f8ac3ded23f0	57eaec94-bbe9-4519-b142-8ab05244691d	\N	\N	0	SNAPSHOT	RUNNING		0c04a73b-43dd-403c-93f0-55e45f13b59e	0c04a73b-43dd-403c-93f0-55e45f13b59e	f	req-63af1534-016f-4429-9642-c94a69b3bd32	153b988a40134bdf9dd4bcbd5cfdc444	demo	1795357026.1350965	1795357026.1351376	\N	1795360626.1350965	d993d2cf-05e5-4db9-90c2-8e28cecefabe	1	gAAAAABrAvliNswK7jdLp-FBlpm0UaTB6s3VbuktJwOqP1O_uyn5zn5XwG-CjnNlMb-JDwE-pFcFHEyqjkurCPhjUuTEbIYziXzUBdWpxk93tF1YjsPLmS4sC5CieRcZl2ZbSpstavgDSnuSpTg37_8U1mi100kHr7mYZ4kvmWMlWVA9VAhSlT6M9zMzZP6SWeW6ruqhmF2rCWzp82GqmQBFM07ENVjXWxpkYvo11k8Ll3a_fZ1EX0Sxbc8FpGfd9PR4M7HBEgu9q_oH1XJtCgAw3jodAgptGij97QMAXLS8DW3JEJtekW95MZVTpCgB_rGQ4pQ8RProyKI_rJ7D801I8BhBwqvK2ls-84OYxVieBEjIllYEOagdfKfeThd54kGDHE0Ylku14SOAvXXgb6Z91xjzcPLQfqnCAj_LaIXO7ck5RPMvXtRK4S2cgqtwSV3zZQDYM_-JX9buiJ5e0b8iMApZC8eu634Ulrq6TydMxNKNRrN07w7wHlfR_VqDlmj9JwddglznXfzcLyecTw3PTgh01WgU6A==	48f3bb12-55dd-495a-9404-1480eb2a834a
\.


--
-- Data for Name: property_sets; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.property_sets (id, stack_id, body) FROM stdin;
5cc29c4f-376c-4538-ba40-afa925b42347	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfHHNKn3W9uNeYHibbSqFMsQIHxHkYesx--sa9PLZ3JYUY_JX8eM8gBcaSp87K0Xg3dHevYR0EiPOwIK3uLRIa8Q==
57e26683-84d5-4c34-a002-a01d3d4cb078	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfMgdiFbghC0Q5x230vpUmdWP3e_tOuHI9p2w0Q-VydFsG2_9y0n2qUg0bNOHJ0KuxadEOAQoAruQ1QKMbaZNTNhJBxjPHWiT9fe7MRCG4ECg=
8c767423-56a5-4198-a37f-db2d90b66f93	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfnZRviJLYdLGkTqaJ-spUrp6CfYPmStJrFpZ1_ZfSA15afJ3LEpHVwMfkdCErbByEbqicrSM4jcOerrD3kV8jM7gRJ82k_sw0KaVTm1g5VlCchIAPmy6cOZD3lsB0ZjiL5f3Qp_U74rInuumjFQxp_D2y1Ft8s5gnt0hw-f5dJOGl6lvbAfdD-uoQ-5lNbxmD
cb03ca0e-3d56-43ad-9250-eb0199f253f0	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfs2A8berXvCestNlrevaAdoXqPddlox8NTV_21wzTS7gVDVmP-E6nmaydk-3rY-Bmbz9E-9r0ilP36ifxXlhK4ERf_g0udLD5WGKgLvSLhfkkILp0F9bxCPqIJr0KJd5A
de8fb79c-91b8-4eac-a8f7-1e7c2d314061	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfi1SQyg1exNx6M6mbFZzv9u5H-8qUK5xqFzSu0W2Z_odCuDp3QRcqPfkv1jhwaz_DoQfw0xzH9bHFJmCmC8nZTqZiYC1Y8UGas2Ey2thZD3w=
8b10833c-2f54-4958-ad03-a5f51840271d	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfonFJr7wrG3TWwyDhC4nnEe1kGqT8xNtwtNp4Ts03fkbK7MB8-hX9kz6yy9frX-ZH4tDvW6GxQ999awIa2xuyJA==
18ee7057-1d03-47db-9067-4a49a3895661	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfw9uprsm77tfRBEYEcFve04FPiF8fvWDLbsVXeO2vMELYtdCQn5mu2d-rJ0_keI6xS3Lv1K2m5CrrAEFsi7GhUMA3FVSbhzhz_W2jXaAYonjx3xPLcP2YkyJGREYBgHvHBjmmSIsiRo8Z8HMrfdB7x0iw_gxpOPM2cj6b9Gme09Y=
22b606ca-91ec-4975-91ad-cc8c85f33372	f5072778-4a49-47e3-982f-5473da261cc2	gAAAAABrAvlf4SnM88GgvasOJY8xeBg1gVzSAB2xQn1JQp_DjlkMETEx9bP4oON4C5Fg1NXtdB7PUJysm47ZRKhF199LD04UuD4xCu26aOfDTzSDtpwp-k8=
a1eb1076-3b73-4271-bca8-b79867fb6f84	f5072778-4a49-47e3-982f-5473da261cc2	gAAAAABrAvlfCoAi93eGAN1VKS1vvby9Si6SEGroe5HQzgtnFOIGWVBzRMn0UORKqr9sY004jlDL57Bz5Z_X-HcRmFz6GkZ4Ig==
8b160fba-3c71-4678-a9ac-f3fc4e0c9082	dc46d02b-9fa9-470f-a052-9925d6e977de	gAAAAABrAvlfjrAeA5Matdj1UH4HC62n1SR3lKMKSJJt3tdyI8jkYj8QbgpZBfi469_z9CBTh56PRZ0PRSBMgsCSqVrFR4CViH-uCJVZWD_mM3DJN8qpDH4=
6dba1f84-2508-48ae-a9de-fc9219659735	dc46d02b-9fa9-470f-a052-9925d6e977de	gAAAAABrAvlfHJ1Ae7ceTUnl7TcameUVLeUsb7XeYknYEbEuu7V7BTzOoiXky_kRdOZBcfp0q1DM8MizObdGd-M387gMFLU3eCd8LlECnq7l1uB1hC1VOmM=
bf7273cb-a487-4fd9-b2bb-aafbc1dae9a7	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfKlWhh0REN3bmMGEhNHvPuu294eJrKjGgE5_xKMRfPtoHV1IqQgmbUOS9pAypWuvCgOgbk33FbKEf85ImoFtTvc06HlUpVpNjjm5NflguL3QwrkEC1rl5ycLJToMwAhy1Gr-M-b0wYplG0iP18DHsRXymc6F3vN8iCPVFWyttB3tAQ9S_xn4a1ttfOBVpvT1g6gNBS6tDQJP4LxEA7McD9wYCckZa3LOT6fQlXXvzqopunCG8dWrui2TjkDXNPKXwh5AoVc6ZtnVRIUGYDk68jBvhfpoj-uc1dy9tmsqCkGt1nRrBsOvolPRQ-V4oU9G2
31ddc8b7-8c9a-4b8e-aa97-d631b3bf39df	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	gAAAAABrAvlfow6QscWyuvgXvqP5Rdf3Snx6QUyE7BgvrPB6sePdgw08Y2EaJqe-btEbWHVKZQgjYwTFPJd6M0N4-MqhBaEBUwp_Dqss-y9g0mQCRI4XCnc=
7680a0b7-7660-4897-abd5-a3b390ed89ca	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	gAAAAABrAvlfDeZV241e8NpqJb7pHO5aVPKuZZX7sOJluUusInz4pfPhaDAlr6QU_6Lh8dpBC2HMVLEROi82P61_9-Ap7Te6Aw==
730f8cb2-b041-404a-9b4b-a56bd427125a	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	gAAAAABrAvlfBLybAdd0GuyjGabUfUOHGWKPsIOU7Qk5lXIYYtLqqA3eZGevyvF2Jh8qV3P_ZTCYEfs9YF27nZgMOIfcwRtwfpfk4W8j5esKyZX26FiyUhE=
640a9b55-1752-4afc-8122-fb8a5b32e6bd	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	gAAAAABrAvlfVowy1tLvOCe9vJO5O_GfzRL5RTszzmsgKrjyT3H7Zjh4RHyZpG-tn0bBMUUpp-5qY09GpnQz5hCDP3lURdQsSQ==
7e634840-c8e2-4259-b5fa-72874c3e8abe	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlfYSALtJgIoFkTyI6aNMZ7YVmXf0ib0p4liPTE4FaMvINyQpPSxD4IbSbe9aZP-Elpx7-XeAQa60_CAwI3y2TDqJ1G_2_QFfRtz1uQ4bZOKO1KxZ1cn2evgI12x1BnEFQrTxP822If-b3nOBfgyJ6mb1dVn_JJ_AlZH3pf_j4MdnlEo7QXcCssk4YzEpiudeqxaXXQnbyHCDSTrYMZh7KReXseyODpALnlGql9s3kKWi9GY7SXsOAB58b8u5oA9yov
2789a9bb-666b-4548-b739-af04217bd1b6	985b6928-e5ed-482b-86f5-8e7af47f0d5f	gAAAAABrAvlgtaK2uSAF-WmcSP26PVpoAgrpxQ1eLu39JNPfGo_cW_oIQvwjB8jnafFBpfM-WptUCpvUiVsgASohqTH15IYvvXfiqg6ElJMxEhVddIZYcMs=
57f409cc-0605-4610-8109-5f3f6dcba38b	f5072778-4a49-47e3-982f-5473da261cc2	gAAAAABrAvlgOt7ThCt6vFNrSyQoGWkj4q5sKItzyMV6-gHal61o4B9I0zMP2g9WzarYsYlCVxvuwaNXB0dE0-9vXsPLN5DMg_Z8CUhxKkhAV34ZKACkRzg=
3d5c36aa-8f4d-4792-9fea-63414366bdf8	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	gAAAAABrAvlgEmt9aa6trUwamm1d_dvvDfnVS8SyjzH60GSLgJPUnkzFEOSQp3Z154KhXqr5EDbywMIGW6mVTn9fL6TLNvFINw==
557751cc-8396-4272-babb-0de884f0e41b	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	gAAAAABrAvlg6ouuWDUQhrPwPOepV0-ywcXuDQK8ZIO6jqK3EHe2q6DBD5xo087nOxdbDkWWrebQ3JMeP29MfK-_cjF7ZTBnpQ==
b8f98844-9218-459e-b65c-f18cb1614667	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	gAAAAABrAvlgw6X_n2Vm658Gcl76JbxvZ2Ml_Lt6rP25_Lqsi_LXrhcJf09kF3yYGnQBwuPZkkSbDRcMQIUvA3nnHvxybDF_ug==
2756101a-a281-492e-beb0-ba9de98eaac3	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	gAAAAABrAvlg1sZdinDgucYq3sgVo8zR0WFQd1FBNN4Ggbfen_nVITcjaGrZbPxS-WazQqmhrDeHZ6KrwOGoF4zlqbWUiUS9-A==
5f7d51cc-0c57-4823-b221-f87578840fc8	57eaec94-bbe9-4519-b142-8ab05244691d	gAAAAABrAvlgJjj2pLg_PkwfuwJ7oCCP6ZeqxE6NteGh4udkITZeryBuJyToBUAW9FDPT4Q4ZxM7HF9naV-nXQ434_haVOu-cA==
96b74e06-a2c3-49b0-9970-beebf56d7cdc	57eaec94-bbe9-4519-b142-8ab05244691d	gAAAAABrAvlgz7JJCR8barMGDpEMY_TXTwilicOQZaY8HvFAsAFakdtr0CDYtGIXhPXKzH8kh5Gy4FCZ39JOFb5z9P4CfQmA-w==
2eb15bea-4fb1-4595-942e-0e2e87a4dcfe	639f3b22-b38e-4458-a8fd-cb5057dbe35b	gAAAAABrAvlhRhEzMCd9VZAUgAqQY7twV7YWqu9y8BcC77nRc8oHKpt76rlcoePbPDNV4023Wnz75OqLBJmt1o9jP0Zia7gWbg==
a2ff3fc5-e8f5-41db-b998-b9949ddbaae8	639f3b22-b38e-4458-a8fd-cb5057dbe35b	gAAAAABrAvlh-iOi2RO_Ardr7S21xPRKtyKrvXHcRRmeBCyaolCiykrONrHdFKMMVB87ouIM1VtnbJ9l6OIVwlmMHp5yTqG55w==
e09dcc6b-f9af-4897-bf2a-6cc53760dab8	cc9a9901-f65e-4307-b527-2b5d61712a2f	gAAAAABrAvlhFkytSShFAl639GM-wfp0MaT4vdzmYcQI5fzTv_QyYs7l1tDm55qftlvai8oND-YhhLNDgfdASndFuUIaHUMtfYbsaJbINT3jI0VT0jpmp_VP894H-ynqIIZ2pekChKFEbLk7JQgNBZ2-Y1b961QIHQ==
0f3ab17c-ab2a-4802-a70a-47bd2f46382f	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	gAAAAABrAvlijL2M-ijoUflnQHXqkCDgpWOEgXfYq8Dyjo8w4q14bTSu5EQB2MeS-NHS3sZjTecrxVjHr0OPRGcWxQIutp3EBSyGWdpiQo3cxeynumDEf1k=
b1cee323-9cae-4681-b651-2edfd5ae0956	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	gAAAAABrAvli6bgwDyHvpJn_mDACuOwfok2mBCgggHSSUpTyw6Cl9X_jRo_qcK3yctkqsYT8X7BQJhubVY-GfSbxmeTXTWkCDVhiobhWR9jOdYiL-Bo4CVHOw2uDo3-NUG9CcWZk1DJbI8oXq49-FO0UAvj1pOTKxp0va8tDsWKgXAlf0qrO6Gw=
7718d325-d67a-4efa-b785-7ec9c6c6cc69	fa564dae-0dc7-4744-8e61-8dbb797093a9	gAAAAABrAvlispVUPNyFBRSTtw3jrRNAZKjc-PL9smID-NR16Ab65NHc4V5RMTv62jcKq8P32Xouwh9TBGSUanyYh2FO24ELE9Hs9Bi9gtlPh0PNkjx_-KI=
e96a074f-b74d-4b4b-89a5-819637b941f8	fa564dae-0dc7-4744-8e61-8dbb797093a9	gAAAAABrAvli4kYDE_nXBMhY3Haj6bhcfcsZ-vHnCW9N_BZLbJ7rgE-Oo0KcAigYEZ9mfTsDv4fiemIrfEmmvAyZ4P0CmSe7WQ==
a87078d5-3a47-4442-990d-93f3bfe4de24	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	gAAAAABrAvli7MUIMmm9ATp6nKdA7GZUkHtHd62u8EnjPtJ0STIB0vZfrlxB3MrGeGyZ07GWzHHQw127t5kan2SgJmRDnB0nAlHecXCTr9oSjNWJJvpAXSx-hKCXj5XoOCvsdW-5OXK5EVtft8HmOY8jzFm6WwYN2w==
d09def0d-451c-4797-a2d1-0d3557e58bb8	48f3bb12-55dd-495a-9404-1480eb2a834a	gAAAAABrAvliryS7XVpDql8EsT7GJpFFOhJPX3kOy9oeG1wjDIyJzgpxrRBj17YwtFvQ4_MOR_bUfZk5IPsWCLkC55tFGq3VQmdCu-xtunmRH-AyJU-LQc2QoH4JUIvb2PlGcOsjj01LMSUqQ8xURz7uIf_epBdX5A==
d0fd5a51-dfaf-4342-9249-e34baabcdbef	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	gAAAAABrAvliHDiQCLL38EWZ_pByIkn0bynrWePnExd_TD9ci3xZxbyRdz9GhbkN9V2Z21XENrqsQ6C1gZ_oaw_DRv0t90FxcdS4LOm4l833AZXVbRaQuPZjzl-5_s-f2RYzWfLzzzNdPfIGJt71AeVJb8tizVOcigH4pza_TQ2vwzqud5lSTfsG4YKRxahhlQ9sTCEzKIXWQbgH_qOE8EiFevjc5EpiUw==
\.


--
-- Data for Name: request_tokens; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.request_tokens (project_id, token, digest, answer, created_at) FROM stdin;
\.


--
-- Data for Name: resources; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.resources (uuid, stack_id, "position", name, type, action, status, reason, physical_id, fingerprint, requires, replaced_by, properties, former_properties, state, created_at, updated_at, started_at) FROM stdin;
2b3aa027-cf3c-4314-88a9-184978c5d2a2	985b6928-e5ed-482b-86f5-8e7af47f0d5f	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	4370352f-5cda-4cce-9b9c-c1663896cfc2	3e6ec1e7d452cfeceb1e1ecdab107486adb56bd4b761e7302338eea0af9069e2	[]	\N	5cc29c4f-376c-4538-ba40-afa925b42347	\N	gAAAAABrAvlfd8Yu7pzT7wHpXZBd--kLZ_afl8L0fiRulevLfELcNRtPqswjhlogN13FdRdu6DEprL73hUdDDgMXtbk20FeEID8TEF2IhM5b3oz7mY6qEV9iNLskDwhV6Z6vLPl9n-VJh1mif4NMn16IBlVilpxugneFzxq0tj8sFWkRKNVtPz3l6XXLFzHAnd1c4AYpM2bhirl5gH0sYrfw-NdbXSNYcF8aM4O-wz-H_-1d7EaULzcXJAC2pYQRP59pBukRCXFckJAllRtxqApRMqFRpDX-pz7z72hMH5P2sYvI0wmFhto=	1795357023.307044	1795357023.3649514	1795357023.3071053
126e9058-f14d-48e5-99ba-74086563448d	985b6928-e5ed-482b-86f5-8e7af47f0d5f	4	nested	child.yaml	UPDATE	COMPLETE	state changed	f5072778-4a49-47e3-982f-5473da261cc2	d9f081d1ac71f1064de2a3fb91efdfbb4dab3358ad7a8c015017d0f3efab8508	[]	\N	2789a9bb-666b-4548-b739-af04217bd1b6	\N	gAAAAABrAvlgydES7OZ1m_d1lpiVP5VqN4xSlZYtq6UMFlvOTD6RqBQ4BJtrLynyAZT_TgNjiUf8hlinMreX3CtKydwD7umj972QEbH2lLO6-UvlP8mei-u0mtlY-WJ9w-4DRChJElWOqENaf5G29Sz15f3brYUijmcPUzebIsez4KaItR6zfMKudD11EEovA8dCyUBZ8HpYMfTBzO0oQjApjhEtrGWQIyH2c62aH4LGvHHh3caQS-XxEOXeL_mRHE-NW33NZInOFZLuCmW9boAjEoAED55a53CyFcab689eN-xKY356dBq1CkBW1Z9ELBSweHnD2FP6k5lwpqBQJZVcF9m_PduxTVSlwSu-8_YiZ-G50Fi7oUire2bRoHGocVne6EQACdbsdSHClWFCIYD2ubWvYHgfJ5TV7uDq8VBYuDnY4buOFppLuJkuWj3Cc3FuInnHw4-pf48QjZIazSzAqvf5wfJp_sDNurhVAOB2XS182ixcroRlAKfYliCcwHjv3ypAisnIljhXZVfu4OnqoJ3vT4jY-g==	1795357023.3238707	1795357024.088305	1795357024.0707958
a5beed40-0c5d-4362-b6d6-831dd8c577e8	985b6928-e5ed-482b-86f5-8e7af47f0d5f	5	members	OS::Heat::ResourceGroup	CREATE	COMPLETE	state changed	dc46d02b-9fa9-470f-a052-9925d6e977de	b374c68e6e218ac98ef48d3c0462762d30c0cee1c56ddbca2f16d991fa68a888	[]	\N	8c767423-56a5-4198-a37f-db2d90b66f93	\N	gAAAAABrAvlfWoRxAy4bPHQuF-8uu6rJw5L2hmxFipfNCrYpy8AuL8F_9t--EdlO6RmLvyx9zr6ITSkQyHISnnwgMSP_ZzJ6z2agZS7uNbCku2SZqXaevO2Pt0R16XGfAIFntBhAA3ubRyLv_Y6Soleolh-SWh3BN9xB21rQVPc_KUY995p3OCaE7sDSt3NJ_4YtR_BBI5rTA6dxorByxGbTdl-bvzTNcRhsprfEagdZyJldnlTIDcZ3z-_d_G_9uoo7eLZ-Lb4O_exX0P3jOINH0mFr-00w8J-H4P7Gfao8In86TKlZ3Ow=	1795357023.3240666	1795357023.988393	1795357023.3240845
7ebc7123-f45e-47b1-b0f6-f9361bdea258	985b6928-e5ed-482b-86f5-8e7af47f0d5f	6	script	OS::Heat::SoftwareConfig	CREATE	COMPLETE	state changed	7ebc7123-f45e-47b1-b0f6-f9361bdea258	e8f1024cb1be80302c140c91497bccec610b270fd3513736eeb11752ea6d033f	[]	\N	cb03ca0e-3d56-43ad-9250-eb0199f253f0	\N	gAAAAABrAvlfILccZXPMiJmlsugjjauVF_SIzy8e4pYFjHba0tMmkso0Oy2-swYmklTluZbFF8WArWzvNR2QwNXjPk6nuRp9CEByxI5-d-DHdTPWuOSr1Hhj7xZ-enMhkJ7SpiFgVlL5JxtXXlFcc4aTz0DwTvgLafQOfC-eSW1gPznkw7cObOyj-Td3kL_bOo12urhQbaaDGvWnn-BigN0CAvLJWk3fil3XLMUShPDLYz0lvUbf5EZSkyQjGm5021RgoO5ouPGF	1795357023.324221	1795357023.4397886	1795357023.324238
732a42c6-d036-442a-9b73-84307190160a	985b6928-e5ed-482b-86f5-8e7af47f0d5f	2	value	OS::Heat::Value	CREATE	COMPLETE	state changed	resting-value-w44egbyzafqk	c78e4e16dbd2edfd8dad08484f47b4aca12493c78f3ef204c6eacf9c397f94b6	[]	\N	de8fb79c-91b8-4eac-a8f7-1e7c2d314061	\N	gAAAAABrAvlf3QtvB_CdqXJaPLKxkdLwVDvcLIXrCi9O7Wb5T7g64yB8SChXceIcb9nP46k-TAQAZ9R1xpwJsbzUyty6zTClHrRfOdxO60dC89IYWDMwN4b_bTDDWtZECL1bUjClbNzX4wl350JfT7gVXeoyBjx_NUkLlbqSvOUBjoC--qgCV9g9fyNlJdOQYJTQDm7Uggz77NLu1xKq7EqcStt7rgbWzOQ5ffuduFxoeI4A8qgczWL2nwjy6Yh80cKklOMLq2_E	1795357023.307632	1795357023.3442845	1795357023.32332
9f532280-d3d3-4fb8-a69f-2d5498c67a70	985b6928-e5ed-482b-86f5-8e7af47f0d5f	3	random	OS::Heat::RandomString	CREATE	COMPLETE	state changed	resting-random-nhznksmmm6tq	657345425e4dc50b0e181ab204a26777f55cd1bc9190d8fab3844a1929c41c98	[]	\N	8b10833c-2f54-4958-ad03-a5f51840271d	\N	gAAAAABrAvlgiY7AmyO2nJRx6xtcdn-vn2KOIDdE6x2cmXEYFKkWqelaN28l2NVppQIBfflIf3enRNHapIyUPsSC923TT5UziyRSwLq4dVFdn5urxpNP4F_w6DJouBzoDosauojEDMfiMu9QnvUM5abiK-rs5L1HkcFx6SLyTXuC7XHeNr7tJlmzKeLuUKFak6z2byoA3OD-93BfRL1zU2KJ1aJG-asrxRAGWzwv4C3o5qq5gDT9rX9foEe37o3p547pY9m9LzeqkoPwmz_u5RG-dJ-xcsL7CaXmrJSveJPWGv-yx93G6-DwkRic0yGVRidfQpeL0iWUiTfobr0asj4yAVyJBxpLmxceo7VUhwlCLjjpGlT_Y-wJZKJqYd_D1SyDTC2U-1ZL2lH6jk2dRfWedq6hUk3mew==	1795357023.3237	1795357023.344718	1795357023.3237228
c8b9950e-d98c-441c-98bf-cfe37f414e5d	985b6928-e5ed-482b-86f5-8e7af47f0d5f	7	subnet	OS::Neutron::Subnet	CREATE	COMPLETE	state changed	0653147e-2670-48a3-a907-03907df7d460	9fdad5174cad5dbfa7795e7327cfdcefdb6d02d4fc90cfd23ee08ec5608af92b	["net"]	\N	18ee7057-1d03-47db-9067-4a49a3895661	\N	gAAAAABrAvlf2nPeF5AVWtIZ1qWHF8NiwNMBi9Pq4KCfnEMf7bT4mc2jSxM95QIgwrhyRLWuOVAXXbL9LByBN3yvCXJOGfrWiUsRwT_JlovU4kxn7ZegOFYRaAOOkPb7mmYuld7rDUw3e0jiNHAQ_II6ZoutzO6vR9ZPEpfUkal7rHuLXLUzmMejmSMkyE-YgdGHw-t69gvYWc5p2JcH6YIcSdWe8kPbaMZOEAgKs3uhDafsIBWdb20FUTZC6brWRgNSjUp4p0cV	1795357023.4237432	1795357023.462413	1795357023.423791
144728c5-3255-4de4-aeb3-21db8b0cdd8d	f5072778-4a49-47e3-982f-5473da261cc2	1	net	OS::Neutron::Net	UPDATE	COMPLETE	state changed	9de71a25-1e89-4928-acc2-c7236ab9d649	f269f6c7fc560f548a20f3ec32ee4e6d3939b3a1b55a322c03dd66d4d3237e8d	[]	\N	57f409cc-0605-4610-8109-5f3f6dcba38b	\N	gAAAAABrAvlgKWXGnG4NyegY7g-Fcu_k88qLgzhoKrxTq3q70XPfNWXGD7QWp01pXSC3s2wgJ5fK36eHCrcDufmzn93p7b9YKrSLYfwS7nAT97vYErf7H5hpyxCkIRS48CynDJUrdHwPwzVm8MukE4e0V1gJRUomeHZhtyfwxwKLtADQpTB15GYLGYlemkmtyowUOhmsfOqkUK8WvNS_fjUm3BTncspVSLKWvOgBfylBGbgyivzF1NjSZogaKSc2RNqR2MjCrzxZ1nLYDrB0zOCfo7O2sEvgQ9Fezqy0x1UxRJNuhGfy4rU=	1795357023.4522252	1795357024.085009	1795357024.081863
04fe7e9a-0e9f-4d9b-bb07-59003bd930ae	f5072778-4a49-47e3-982f-5473da261cc2	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	4e2a92ed-2999-4df1-acba-2245f3af390b	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	a1eb1076-3b73-4271-bca8-b79867fb6f84	\N	gAAAAABrAvlf4YomME3CmO0Vy6-HsM0memuBKGxAFwDvyOHfKcaxwio2dCTbZQqW0kkIDDZraZUKgf5yUFNoG1A7BQ4Kl6T_dCq99zNT4BgcpFTHFLvGgXP0XXNFXPdY096idGv8FJhWKJqkkeZL-bu3dEcvG2tiRP-FIQfE9gdVl4rnlBkS7Kz5ZdyC7mf6th07tk-QZeSV8gJZN4D-BMFOKKSBRY4RGFETEzghw30ZDweH8xoDWv1W7VXo9rK_SL_-QryG0AHf	1795357023.45246	1795357023.7882407	1795357023.452475
f918750e-9007-406f-b658-87d3ff66c3b4	dc46d02b-9fa9-470f-a052-9925d6e977de	1	0	child.yaml	CREATE	COMPLETE	state changed	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	0ef8745548fb6f8a861186965eb9a2a2d18cfb52f90fcb30d95b62f12bed39e1	[]	\N	8b160fba-3c71-4678-a9ac-f3fc4e0c9082	\N	gAAAAABrAvlf06kVNPzk5mv1yxv0veVej8nBE1bh7cnlimQztXQiP1m_lZFAA1qbgAroevMWrthN85j0OR9EDgoCFpY9ymIfKF4EJwebQCCPWRrTIe6rGGqJRHg0sv3yzVSwF4HhRZF6rX4Jn5AKyPHj1ypINCdzpJkHbUEfW36PKvULhe6TZx08nNDTDtKiQltxgQTrnUIyaEGCM2YFSthpCoRALj3a1plv1NrLRxsuuKenP4HZTORthc4jIQ5JERc98TVk8y-5IwCVFUJBe_Auv1F9UbuhKcjbmHoDKZkUQetABVW4b6yzqIK1Gs6eb8XYamcAfBLTSZNI4UQcNucGA3KtVNRD2mi4QB03wk-sDH6eTR15lKIYrfIQvIiAOXf-TL9Q6x_QysnJ0VtlMqGVZ_MoudYuHAXmvk6KgUyP4Ic3SQd1QBCiNLghcUR5vK6Rv28kKKyIolrwoubjD6sy0MHP363v_g==	1795357023.525904	1795357023.9300263	1795357023.5259502
5d04b593-a520-4978-a464-82efb4cdcba6	dc46d02b-9fa9-470f-a052-9925d6e977de	2	1	child.yaml	CREATE	COMPLETE	state changed	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	57d48e077ce49df5117dbca0eef08f16b7fadca6541720625229d3980f24f019	[]	\N	6dba1f84-2508-48ae-a9de-fc9219659735	\N	gAAAAABrAvlfF7TMPJMEp0mBhyGK6sbfmYQcyE1DkwRHydwn5WVaQZlZMoNfGgTDWsuQga2Q4QDb0DEPSLk2HKhEggmZ3hjaWaUGTeC5Obm3jHENiCjh8IEu1x1ZS0WSOe6M3YuQqVsx4Dn_1CTvrOm1smlRLPd8pix2rstmZVrJcr-W1TJzrsebGJSreRzDgIlBBeEHqOPlq0UhpIe22FPYx7AaPYUdSDUswW_aalmsJeLGvvrvn7A2tGVdFGBgal8wO_wvTIusJDJ6TbJI6F8ObVyGmgHrFAqKD8_dBGgi99qK53JcBUpBAi0Bb1_ulgYGsPvRG-Sl4XicUJBkrPHmzYnZxv6tMNs4E6QwKCZaWT9mp25TmV7ov-oZOYLnRsCjURDngtTOHAHUF6CBL0io4KGB-FebLMImjpbVCSSN_jtbXBSWShDuGEw-A9SeCgDFSfH4nARUPokjrSh-mb7OQcmoPCC5yg==	1795357023.5261507	1795357023.9436903	1795357023.5261688
d94e23ad-940d-4c5a-ad09-d85c2f4d96f1	985b6928-e5ed-482b-86f5-8e7af47f0d5f	8	server	OS::Nova::Server	CREATE	COMPLETE	state changed	95a95ef7-b841-4ed0-bc3f-cdba5a6a9175	1d7adb8390fd8118bbfc900bbc09557ab20932c916b0e4b8fa2797fdd0e0b7ce	["net","subnet"]	\N	bf7273cb-a487-4fd9-b2bb-aafbc1dae9a7	\N	gAAAAABrAvlf3XzcMqRYLOpuF0WWfGp2h_pqayCNf5hncQCUtZOWMY89ZX3JQPDgzOpguwtZYFzYsa2gy1zE6HOf2ooN_qlI2LFqQggkHqUM0QJLhrEsFEvCo-XOasS-jnJ9sv08YxofW6mNIBjBqZOXtW8k671OO9McCfKyKFZPI1y9MulMy-XEKvXp0qOmLeQybUOJkqyNsicOoQf0sGRS2zo0RJQp7k3Tsvm9_-ivhUhipFbWO9p-TSOIc1NxQGFp_5Izrj5h-AgnI1UFhsV3hlYwAd71IVv_6lnFdoShHkIpHECz0ng-N2V_18cg1Vw2fV8g1EjE90QEsSBYgimxdYas2yV9UrCCUFgEhayGZnXpHRo4T83Icw4uYAxmtra_sdGezkoXhaP9Kw7gN4JdhYiCcFnE6-45VJI9P1VCN-Xol8Qj6kA8gHBJSn4UQMSC_BB7VzVgy0O7AyFxcJ_fQDGM7hP9WjTAq8HrC0DVGXaR7YWVyHvQxNTBRzQnzKJOCxH0Tgn4S5j9Ba1s8t3N3YfE8_P4QBT27JX9EYpvqfFcfOIMxcTeRpti2iwBVSEg4bUdQ5lL4yl83MI3JYVCnqjHio_6auITt1bDh9jj8elihjbJi64fZrwtaMHxDgUKOgRgGfGNOFNcS-Z5iAaWQ-MkiRt75aCRM_qERrfuFgbEDEGGASVxj6csWPRGAtLXhP7by7iS149DXTEHOkOznXUVD8xupJnCyv4OVo9d5lEUbWYuVgtibY5RNngQeebNB4prbRhP9OLdPrKGawiP2QzXG06h8zuD9vqHFNsniPIuvvuuuQereMP5R_iZGtqXI8dDJSpjUuSygA5MSE99osjBgsiMmjETMUzd-DXmljYNgJdeg6QJCV3ilOftKlSzhPBAG4YrZxBn72I4Ymfsc4jTb4-FFORIn-Cuvde6C_Jr0p0cJbNADdwyOqCK3w42QYP_9MK9jn40ToeUIwXAjiI6_oZsJZCoTSica2Dq-_sQn1Y2VvlpC1QdCquGzHJxWX60PiR2	1795357023.5311234	1795357023.983751	1795357023.5311654
b854728c-ed47-4fdd-8622-ad679e5934eb	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	f827ccb9-c4e7-4eed-b834-fb337bce5aeb	fd832ea71371c8ee09620c23b26c00b89f7f74f11dddef61ff788a05390aaf23	[]	\N	31ddc8b7-8c9a-4b8e-aa97-d631b3bf39df	\N	gAAAAABrAvlfvhc1QEEMJP1du8x46Kn5INTWmfZwSICF_NQJKJPh1mCFMmPICw7_F5G8xpUTOyI4ipu4M6MhZOCDE_rlVrzlYlKbnVOWiCWi7axg6PGSM7hQ3bLnRXg1Ga3DQcFgMIxbNg3Vs2WOhGcPQElWkjza5AcnPGdcvact4M_in6oys1qdH6fyjDwJcolVtW0j1vTlkKC-BoW4gF3VF6vg_m5hnjXu_eu9NSrnTl_DX149eQgl7LqUeemZ_EFg1c-bFB-G6JVOm_ERtShur1JAr9HwQRRXs2ogPZcO4tG7Y5nv9Pc=	1795357023.5612175	1795357023.645183	1795357023.5612457
e01dee46-1f1d-452b-9a01-408305195b32	4ad16bd0-f5ac-444e-8b8c-204f31bdf425	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	6a00fb53-d976-4bdd-ad3f-6b562639a099	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	7680a0b7-7660-4897-abd5-a3b390ed89ca	\N	gAAAAABrAvlf4N1MGLGnTdgMR8ziWjsgOqnqFhCUT1XKAvPqtpFHBATTSGFS1Gty9ZnQvT7mm_2s9tgL9xYn5HfVzKScAI0tL11yLHON5e7-dtnrJcfs0_4F1XCVytTn3uIpelsH_hB7XMwZKdRPSTPPYNnNh64sFVLJLVMT2TLZQcCWLaGPjWTsH-5hkIils9UPLaBBGuVdy4u_qntP6Yhx2t2MkUq3f_EnqFTywvyj6u_MYEzQwYJgapmUaWIzAyO73y6dWRcf	1795357023.5704548	1795357023.914996	1795357023.5705364
ae9620fc-7d81-4074-b393-f8d41faa0102	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	91334f21-072a-475f-8340-1fb34e9be66a	0e151f086187cb69427f6f2d06dfddd2191d6c616ba00a64da74cc1bb11948c2	[]	\N	730f8cb2-b041-404a-9b4b-a56bd427125a	\N	gAAAAABrAvlfWDSLhlkEEKIvGmvOGNe6YEjBIkJyvrMDvauxcSCjC0OjjboURIi7VYsTjtgyCfw7frx87R7Qf-8w4cqfnirRYngOaewBqe9mGcGbCrCOx7OjPqWfpr_D9cXvkGm80kbiY8S3uTjRIZsuU_CAPDGZzYddcIxXJUrGcRQFI8rV259kyTo3n5SBilXTmWxf5woN1y6M1UDAituIgzfsrFFQX-L3Fsm7RS3SqmC8fR8tJz4v8DOF-htOAQLVsXQ2g0nvCdYJHgr8I4hq6dss7TKEhI83hjKoDwN571XbZbl8FfM=	1795357023.570833	1795357023.6471472	1795357023.5708504
d238c627-712b-40af-9c58-d6a2412f09c6	5b5bd7e3-a1d7-455d-a763-f4566685dfa1	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	196386a3-8336-42d8-9c8b-c93c14fb5598	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	640a9b55-1752-4afc-8122-fb8a5b32e6bd	\N	gAAAAABrAvlfQY2qop7G0M8iHAXLQtREPbJx5yb1NhyqbK_TbFO9YtBi_FOt-DMtF43mcWw9G1qBkI6Q4UDzJg2o4EIweeqix_YJgTzg0Lb5Ze4YvzR5NeHyrke0frgu7yXf8aDuynjjXPnoWBwGm5uUapCTqweCEkKm49VVZGUGv0W4q9n3howIt7BXAxrmbZin40bSdI6kHvyEzbW6FaTsndQ2DZ4sRuSomO9ZJ2U5FaoNzfKsU3c0UU3hxTvBBmGA-P7gzrlG	1795357023.5709858	1795357023.9264617	1795357023.5709994
152b21c2-ef5e-4852-933d-65cf5af9aeab	985b6928-e5ed-482b-86f5-8e7af47f0d5f	9	deployed	OS::Heat::SoftwareDeployment	CREATE	COMPLETE	state changed	152b21c2-ef5e-4852-933d-65cf5af9aeab	c7d06c73dc0d085882021c3f8c069b2cefa5e621998d3881e66913a25e4c1002	["script","server"]	\N	7e634840-c8e2-4259-b5fa-72874c3e8abe	\N	gAAAAABrAvlgz68jk87lHBaQMahM4e1pkbQqA26Hpc-ViWteWP9yN4MtxDTFqqeiaZYOlmet2OPOGcAbL3HhwunYIXxMargZAbjlIrGab9vFSXFx7kxB_IY1-U9C7phjHVnANlGbdsAtbo9C9GQpfDnJI9utqdDPoYicJOdIjcTsfC3ISApkftSpLlUomnU4mGftrZ-V41igzHJTt2psutOF8PNZrxzRQdoniy8DNScMVdW1ojVVyWt9ku_FMylfEb_PGl3Nm8Mk	1795357023.9941125	1795357024.0246143	1795357023.994144
b505f307-208a-46bd-87ea-9244deaba985	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	bcda28a1-8b6d-48b4-b0c5-29883d35ec9e	3e6ec1e7d452cfeceb1e1ecdab107486adb56bd4b761e7302338eea0af9069e2	[]	\N	3d5c36aa-8f4d-4792-9fea-63414366bdf8	\N	gAAAAABrAvlgSp7HpnPax92kPrqJnZ1dmDow7cwYQdoNLOviJsvqZbfK2cB6edrEuXsIT3EfOJh0vfhf1hO8WVHzct3RfT4rn1nacmgkb_cJH9Nb4RcaIOOOBRbsOOsx9qdVtS4_yy6ETSQQl36E0_bdSlm4QIFf-3cBo5YnrRqvY8CEtdpo62-8rDdnUKZ2jgYUEyikf_kWoj_ix6iDa6PBIvJyoMy06yvcO_aMWNjGCfzvNNoA5iBJNA2hy-UD5ReRpR5cJtd2RmO_owOWywNyx9ZTxTm82NXJq6bgsRgHZewS7x45HZM=	1795357024.1008072	1795357024.1049318	1795357024.1008332
667edda1-ea50-4d83-ae80-36ce363f724c	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	78cb8154-953c-4b50-99c7-3bf7478c7503	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	557751cc-8396-4272-babb-0de884f0e41b	\N	gAAAAABrAvlgppku4ki28KLtMqmE9QvXXoEJ1N7BD92cd4W5ZrmaI_pocx9kYQM-JO1xAPfzWf-eehPcz5iAzZgHXmGRQZr1P6e4lSdFjvQs4pQ8Puq8sqOlG6wEHyTkZLFSjfGI1PN-n2WuzAOWrPS8CLrviFnHTAyc7f16GqF38K8JgCwfeCn-oa0MR7InWxqfYruvzaSxFE59nm3so0ah456_BfW0flgcE-im0A2Lf1oHKlERmcbgG97ncFP4wrQoA0ZMUPds	1795357024.1012983	1795357024.3729367	1795357024.1021132
6eb59115-4010-435f-827f-7baa11755bb5	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	2	volume	OS::Cinder::Volume	DELETE	IN_PROGRESS	state changed	be804d34-b236-4b90-a8d1-67bbffa0b2be	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	2756101a-a281-492e-beb0-ba9de98eaac3	\N	gAAAAABrAvliESgMTwTYRC1mvS81zZSrC2fxu3cFRgGAq1s78yc0ecMjIEVp48WvQixyewfKWI8Vsch5dVRQPKCq9K3tWeNgEb-Zb5lI2ijFtsKut9HWu-1dS_jxlQ6I9CtXx1xvc9zg2USQqwFB_CVF2SBijmCFrGBgHTD_-Vt5YwtiNdw9cmbd26tTLJOiGBT9Ay2cA1KWUESeQEUzzbHEe9rkjoyM2mpoKl3AxJ7EZDzsX12byNfo7O5VYMyR4LS5kfzqJ1aA98iw6r8sZ9lgcYhKvVwatTAJqResh-yLY1IOG5sWEX9c_cJ5-bYh3Z05A394UqTi	1795357024.4241502	1795357024.7158186	1795357026.1325035
e84bac03-d9ee-4ed1-b778-c65a09a30538	57eaec94-bbe9-4519-b142-8ab05244691d	1	net	OS::Neutron::Net	SNAPSHOT	COMPLETE	state changed	f6152ab7-1ef9-4aa6-900e-eaada53e2d79	3e6ec1e7d452cfeceb1e1ecdab107486adb56bd4b761e7302338eea0af9069e2	[]	\N	5f7d51cc-0c57-4823-b221-f87578840fc8	\N	gAAAAABrAvlipx5-fh3sSaifUQoY5W88GJuQmz3Y3HWPgxeyEIy-BSNK0cY3wr7bep13XEt7xFsaB8Cp-ytLKbQikY6lmK89XC-ngOYzQFPIhPVVAaV0wXqYAEEejBhUMzIIFnxnLao9s5fHv1lGruHywUObVTNrWZS6UTztjGZjFhbHwkyxWkvOPGx1NmEZiS4G3uMBMqZNNZy6Splsy-7EE-SX-7RYmUafq82d4wSE6yY0PMbRcaZ9LzVyAXnyFfOEw864ndCkMkzTvKGww3pBzUQIK4XVtSxTS5dFrLj6UF84FZk-7cc=	1795357024.778421	1795357026.1817796	1795357026.163806
3b7da767-a0f9-4ddd-b30e-470b7c1c14e0	57eaec94-bbe9-4519-b142-8ab05244691d	2	volume	OS::Cinder::Volume	SNAPSHOT	IN_PROGRESS	state changed	340ebc0b-997d-4f44-bfc8-5d771bb604dd	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	96b74e06-a2c3-49b0-9970-beebf56d7cdc	\N	gAAAAABrAvlisKe0EzhngLj01bcrGRMCXCpVfEWSPcpZCv242GDlKhUCkdy4din8qOsrMiJj2RQV413YZHB6UBaPoYK23xzQVkomYjOZSjqgmvArbzf4NGyKD6eRK_us5NxxwWrlFBWNnbxtswbUMcTuiGVlfC0JTtBf2vYL1Xy_Y0_I8i38hHz9vhJuGojLZ_25en8vDtPjWQIommZrbZbx_kYmhhUHabvMQ5UNDKJqlVGm4O8omyYasHf10zU-dqqG68cnYt3d	1795357024.7791326	1795357025.7233229	1795357026.1639078
282ef096-41fe-4a85-9c67-325978e1b82c	cc9a9901-f65e-4307-b527-2b5d61712a2f	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	d7239b29-752d-4d2d-b86e-485e722e4ebf		[]	\N	e09dcc6b-f9af-4897-bf2a-6cc53760dab8	\N	gAAAAABrAvlhoM9XlItEooB9o1F0Inu7cad79FzAv_T0v7MmzE8q3ytxTcRpKlsMjDrP1HJlgG9xcbQUgGiFpKDACHLkV4OFiPwOFDDw6CLny_iaujvhNUK9B9JFcNOJiM42-xgGVbpcuAK24eVtmS12uPzCHwupZyDTlmFPIrtBi7QATKzGfvpBhuBVyw4UhvSU7lK0vGar	1795357025.4306586	\N	1795357025.4306586
452fb661-4dbc-48dd-9f95-6341c2b7f167	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	1	nested	child.yaml	CREATE	IN_PROGRESS	state changed	fa564dae-0dc7-4744-8e61-8dbb797093a9	8503f4c7be7834c0687b82472ffe3426e13a26073e24a8d4a36266145aedd064	[]	\N	0f3ab17c-ab2a-4802-a70a-47bd2f46382f	\N	gAAAAABrAvli_fHahmDHmO5obhhGkTBSZ87OSMbKAvSvs6JgS7xahNTtrAGdH-EwlYrtyy4eTvum9jvFXjaxVoMaS1GHIFi8lN0gCu1KozZawafNKdsTOCPKnbfutfmgjCZ5Y5FO0P8W9MlUUqLgvGFfM9LP3x7U0UIfLML1PDEAixcuwILnPKQh0z-Ed73yLMAf8fdQkHjNhZtkEb9fx9klABlMq1mV1xPdJk7GFVlTbo4TExvKcxk=	1795357026.1048064	\N	1795357026.1048388
ace22e11-a72b-439a-bac7-9b6f69ebce43	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	3	subnet	OS::Neutron::Subnet	CREATE	COMPLETE	state changed	f0da21e3-d70a-42e7-a1f0-7542983e4ae5	a895387f0574dc613b06a1d55b51240d9627b28bb7b9b8e5237d80326ab57f52	["net"]	\N	b1cee323-9cae-4681-b651-2edfd5ae0956	\N	gAAAAABrAvlibe6wgrmYkspPnMXObJ9lxuZl7AeSDMr_IceV5FK2qC1G8cEgJeMYoQ9Dt7xitoX8RcDsK1bJ9poEI0WW95CN888Q4a1qOBjKWPvOYgRmUUydEwuRw38zkaaUiyOD2JvzHXrzWC8sBZc8JFEw3hdKAEkXU5FFOww6I_ry1qCFCd0TeEQl0qLWEXvS8f0PKfWqrfHzcHzox40KqrgKaJAqsvTjTtilvUn2McKbm_jOCdZuz5LsvaZw22dsfMJZOPJA	1795357026.113817	1795357026.1381898	1795357026.1138349
b00b954f-895a-44d3-980c-85cd42bbb0c4	fa564dae-0dc7-4744-8e61-8dbb797093a9	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	c34a7ae2-fdca-410f-b411-3f9ef24ceada	c93729b39e4c4bae493c277212b7530956d7da8d1ceb4666efc0e174777f5882	[]	\N	7718d325-d67a-4efa-b785-7ec9c6c6cc69	\N	gAAAAABrAvli0zoxiEvMBEsCQnqKTF1GmBJxTNMIGZkequgnkTc5VuDUJDKXagqxxiZrpn70RBkZW0ixUK5BFy5cm1JOCLJx7NPuJEm4tcQtnzlq6U6ifZK-P8oloD8QMIXytD3OOahInEtQbWBMo6ionReDoPG57REQ1IJs6SLNzBhtglrFU73h0d158gVyjD0kX5jTUzlZOoM3KzeCYS4_ucZGorfE5fC3IG7IuCtN5f3BLa7puzKssLYR-6-1c14srvJpPplk3gRSKl98WZiSqr1DcZPRmkePxUSCphazJDfIH8Z_2Rg=	1795357026.1195328	1795357026.1433408	1795357026.119558
2cc029b3-1069-4e35-ac25-085487131d80	fa564dae-0dc7-4744-8e61-8dbb797093a9	2	volume	OS::Cinder::Volume	CREATE	IN_PROGRESS	state changed	6aa4c40a-e3a1-40ca-ad8d-d85a11bf7579	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	e96a074f-b74d-4b4b-89a5-819637b941f8	\N	gAAAAABrAvliO7BxQN8IqWj0MlK9oKZwLl8cmuIP1wGPe6mW07agSY-fg7Aq9wDYRpvaTreyKlH4EPbV4O6oyg6HwOnga_M8oi_7McloQcv-LeaMFHuVUlnnNU4CPwFxgyBcOaRB4fGtkuBobsjJEl91wctJyiIM4NSdlR4G3VQpCp-r7AXWn8RtEHkLnxonuaV6Ojn7g82jixF8NYI58ph9S0ehoTBkBAgLddb0SlOyRWGMA3HBjMaWgoztYe_zDtxo8LQflUugn-xRHN6mfzFHABFc-LuaNzoHT4JiHFIYJTxhFS0Suo4=	1795357026.1197248	\N	1795357026.1197388
483788d2-c703-47a4-80f8-b0108fb2d0c9	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	4	port	OS::Neutron::Port	CREATE	COMPLETE	state changed	3d2aaf6e-0cfc-4451-98f0-0d4cc6b68c1e	84a8eb392964a336beb7156516c97044a35f3f4ae063ffd931ed88d31e5f7837	["net","subnet"]	\N	a87078d5-3a47-4442-990d-93f3bfe4de24	\N	gAAAAABrAvli5helRg5Gih-mZDeKRPWqm-rnDU7qDdRGk4ChnxABmLr0VhkKya6mK2W7T4hQ1Y1L15iAo9aWOutbblrh5DFgfdyNubx46IUAW1Z5W6K--TT8kONDFwfsyIIYfk_a9vBLvdYl_377JqPpFNt7gPv4kWoStk5gDele7DvOYGEu-BFTgGXdUgTwU9DROkYvNNzUnxwcoUULuk7ekUZ1bFZzvt9UTa9u1U9XXYvBLB4M7xF5N9FJeovGA3ofXsemkPp0O9PJNijbDbF2rn6lYCDpYAUx-sYYAaf31ixF07kYRqPh4WPB1q0H8yRF7sIA6ndOqVFKDUs5izU7Ct80n6pCxg==	1795357026.1692667	1795357026.2033832	1795357026.1692884
c1a25c1e-2a02-4b2c-802a-2a404ee4e764	48f3bb12-55dd-495a-9404-1480eb2a834a	2	volume	OS::Cinder::Volume	CREATE	IN_PROGRESS	state changed	11c8e9ac-df80-4a96-9967-5e8fbfb5c9ac		[]	\N	d09def0d-451c-4797-a2d1-0d3557e58bb8	\N	gAAAAABrAvlilBviJc6ydJUsxgFhFhqE6Hg7rWDdgSl4KQKzumzAyCNlygb2P-Ipzs7cGIuIFvevjjPXjKgNr-7L5yDiTsKAug7H2COFeWidyHiRYcyE4V0L4eWgYjRQCsFwVFZDyIEc8rzofsSwoCbarAE3FyBcVzQm_XjDLg7D_7UAlaZZvcsjX903sok6SMKGdDPwxknx	1795357026.1815033	\N	1795357026.1815033
c9c1faa4-1c78-4c6d-93c5-6f2aa7891786	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	5	server	OS::Nova::Server	CREATE	IN_PROGRESS	state changed	01cc681b-8b96-488f-9402-9d70609a05d7	bfe06ece628413cd9c752c7c73dcf8ef206876c73897ffc0720a4a1344288bae	["port","subnet"]	\N	d0fd5a51-dfaf-4342-9249-e34baabcdbef	\N	gAAAAABrAvliSstBTSzZ5_jygYQghgHocGJlKF1kBI3SFIKnSq3hPuFIwwabHYKjICvYSweQhczz5JN6MSypZ1Xl5bblu8cpj6EwbWSaTBlCxW7QXojv-G_5azXT0_DY6yDx9jrrMclbfPXtprZDonCipe8Or7Wr_Op04dMeK-Y8BvJd-6Qkt0zQ42OtRFTQ88CIB4FWoxaFXGNCsyUNRB9uKXxv6GsIZdT5IbKE9J47EnDXCjTtEYIKx9Xassb8Xltm1OfxDkOG	1795357026.2223701	\N	1795357026.2223954
\.


--
-- Data for Name: sealing_keys; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.sealing_keys (id, proof) FROM stdin;
\.


--
-- Data for Name: snapshots; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.snapshots (id, stack_id, name, action, status, reason, inputs, body, created_at) FROM stdin;
cc9a9901-f65e-4307-b527-2b5d61712a2f	57eaec94-bbe9-4519-b142-8ab05244691d	before	CREATE	COMPLETE	Stack SNAPSHOT completed successfully	0c04a73b-43dd-403c-93f0-55e45f13b59e	gAAAAABrAvlhByQM02iMV1B3vBGRaOOs_l_7l-GXGJjBpQ0PA040Uyhe1IIPmArCCMmCyqHuJI4c2QOmxfH01P13lcCajUVM-4qs6qvQ7zTbYMtc9vXLVZcSE5BXLQ234vwClX2u-rWnaKePJxTX9gXsYF30JA7MeswEz3imfLNAPdb6AQIN9Y0VFUmcZukmZDLn7_WPR4YvYODDtgUhshaPyMX_R7G6ACMG9Qk1e1n9P8uFqyfBJLZH7dFWgNlagX4dKrTMlYaX58LaECD-iqNYQ-R-PrnC-f_qON9gyT1Dm2tKka_e27P0m5RzvvLHrVawuW5Tsf8K1exg_VnGeB5Lnepyfuj0kh0fWk53gtvG7If1ktQJNjtwS3LFDWztSFTHqV9ua_VZR5nYziAfw5n5RB7neqvN6Y21FBDelVmou6IsnHa-gPMSUlOXeN-n-cEPQCiT76cQWFrmw01YX1HIwCDjXhoXtrdgncxZf1cO5VQDnWSlm1Ca2iufdWKkYWRjBjh5tmuVhhm16atenbyvAkJfXyGeDbUS2NkiwElpBiUBx1CIxOrYoQETnk_hz7n7sWRhBVC_36a7gIpZ5xreetUrN9FvJNMisFt_XYzz8BiUwuLRkkuahtbLUU4tFvcYrJT-2SsAcVsBZMTtODE7Gq5yuYlFNDzggffu4P81QwkHJ4eoRuNtFzmDlMDyBeHoIHafSkdgFBzVaU9-0MIGbgqqOLg1KJPPe5lkX_1OVirRJrqdkPwmdeA5WOsYLACCnpAWt3Wdeu80FWAuvjDu44uE5-shlDPwSj7MvKTvvBths1yqHS6p9vbwQPkJ2ijRA5-BltlbSMgZQJG56edRn7qaVfubdn6tgXQDxZ8EdjmLtHXnetKguNgMOL4Aa7430AKo4KYRNNGXyAdda1vJTCVyvAoUocgHjyLDKCH-KbUPHbHGDEGfGUQqce7kyWE9ATHnT4YcWR3IaMOIIezta7Uw3CA88Yv4xttKtDEwYju1o2BNRrVBBAQDwJ3pkyrd8rrGuJoT_nGRnTg_283TzyXXCisiHEtD2jPeojTnEJL8vhhqDA5Kpk8CCp6k4gioB487ECviZkGGHhL1whFhs-qmTLk4T36bYOYHdWjU0iNnAddSgFvdfDP9k6pB8nmliwGFkG3IQlJXKpbvy3PYnGJ-PecfRzv14cJFydTlevGtmq3CsKpr_eUoTA5s4tsf-2FLFSi62gu1-FO6D6QyxsJHgc0miM6N4Wb_-hoMec8Hu-4chb1ryoCrWzBLp9SlO3wFVPiBCNECz9gBNCqdviA11C7VDbP8BdDrjHR-H4GvZoazpHx-0F3haSaHCGvtQAQNGQTp	1795357025.3934903
48f3bb12-55dd-495a-9404-1480eb2a834a	57eaec94-bbe9-4519-b142-8ab05244691d	after	CREATE	IN_PROGRESS	Snapshot CREATE started	0c04a73b-43dd-403c-93f0-55e45f13b59e	\N	1795357026.1350892
\.


--
-- Data for Name: software_configs; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.software_configs (id, project_id, name, "group", body, created_at) FROM stdin;
7ebc7123-f45e-47b1-b0f6-f9361bdea258	045a92d8dccb416eb043d03f50adf639	resting-script-b5xzgyn55isy	script	gAAAAABrAvlfR9fy3xm1BcfKr75CLFdpSUr_sfzF7Uvw8I0WLP4AtW-_IbL4Rv6UIBY5pzeNhpCa0-ltjF6sd5i02Up6ZU1vPwws_5hZJHXtqHJwcQNQasN9-i5zG6WwORQCtXeZJFX9D9QDxLNZeGAq0r1PAXxpNCB9AMMp1KeOK_jnSWZO4ps=	1795357023.4022677
4920f824-26f2-4c0c-a1ca-2c8174ae59b7	045a92d8dccb416eb043d03f50adf639	resting-script-b5xzgyn55isy	script	gAAAAABrAvlgrISM4pJ20tiNIhIpyKZ9PPAPDslRT-w6glrB73cqtyRFAVebXxrX3Hw62iC8zbpjpoLKkk-YMQQ_bDk-yqOi_x_eOQYuYqUVnlDgUHjrB9IVgM2tGWif2lopt98vMRxzExskbWWDEQHpheRAL0XW46YTb0ecSt7v7D8sN1e9CpRyc8Eo5ck7ZfFZaZRGdsK5nh0cbSEGci6avKMeAqr4KoD0YQeels1yFvkerE8a10uSrct9rSEgHo_zQlrFNr6WRluFb4Ryy4vAUmp7rrLbuoKx2idLEia7qZT-XdxSzDZLqYF2r9IyCo_WnF_2rrU6T-FuVnvt9eJrcj-djGzNfKkRpU-7XMgvJBzzlLPn2h0IVujVvwGwstM1vxhFMozIm9_CSG_2cZZWIp-LNauxEJ6Ku8HU-fdKNPZCQ0eowe0gs9qWKt_DSCcMCy-tColSqKOBXIki2_6XGIkUbospepMVgcR70YqgmQqFklSHlbJH7s9Toz3zjrhP3RYo20KaCooM45d20yh-zqf5QvpUsIvHUor9Nh2yqRU1Q1u_DxhpeCXy5SVxY-vaQKMgSdZYHSMVNcgVryZQT7aKpBwqFSfDm9Bbk-TNTe7sZTTC4Z6nRPhUj9LlZ-AkWaKPGPE7YpeUuvsNqIZPhKXUtNP_WQ==	1795357024.0154078
\.


--
-- Data for Name: software_deployments; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.software_deployments (id, project_id, server_id, config_id, stack_user_project_id, action, status, status_reason, body, created_at, updated_at) FROM stdin;
152b21c2-ef5e-4852-933d-65cf5af9aeab	045a92d8dccb416eb043d03f50adf639	95a95ef7-b841-4ed0-bc3f-cdba5a6a9175	4920f824-26f2-4c0c-a1ca-2c8174ae59b7	9874791339964798924215de3674eccf	CREATE	COMPLETE	No signal is expected	gAAAAABrAvlgRBwS8JvDSovKeQp2gHuf-c65clLf_W46dv1k4gKA0CTxJskCePNy4XPup34LcfJQX4oJhE2Ka0ZyXvCCamanVByDPts87TIaqPAsMrIq_Mf49p9EHhJpeBgVWPynnVJc	1795357024.0189056	\N
\.


--
-- Data for Name: stack_documents; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stack_documents (stack_id, body) FROM stdin;
\.


--
-- Data for Name: stack_settings; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stack_settings (stack_id, protected, policy, notification_topics, capabilities) FROM stdin;
\.


--
-- Data for Name: stack_tags; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stack_tags (stack_id, "position", tag) FROM stdin;
\.


--
-- Data for Name: stacks; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stacks (id, name, live_name, project_id, user_id, user_name, parent_id, parent_resource, root_id, depth, action, status, reason, description, created_at, updated_at, deleted_at, timeout_minutes, disable_rollback, inputs, good_inputs, operation, credential, user_project_id, strayed) FROM stdin;
985b6928-e5ed-482b-86f5-8e7af47f0d5f	resting	resting	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	\N	\N	985b6928-e5ed-482b-86f5-8e7af47f0d5f	0	UPDATE	COMPLETE	Stack UPDATE completed successfully	Stacks at rest	1795357023.059182	1795357024.0604079	\N	\N	t	b1e1e463-4ad3-4581-8d24-13167f378c23	b1e1e463-4ad3-4581-8d24-13167f378c23	f2c87755-fd75-4320-a5d7-661e4568bc01	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	9874791339964798924215de3674eccf	f
f5072778-4a49-47e3-982f-5473da261cc2	resting-nested-totubbswgren	resting-nested-totubbswgren	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	985b6928-e5ed-482b-86f5-8e7af47f0d5f	126e9058-f14d-48e5-99ba-74086563448d	985b6928-e5ed-482b-86f5-8e7af47f0d5f	1	UPDATE	COMPLETE	Stack UPDATE completed successfully		1795357023.3997953	1795357024.0768404	\N	\N	t	7a4f1491-86aa-477f-9bd2-d72d359477a4	7a4f1491-86aa-477f-9bd2-d72d359477a4	f01cc21c-880c-401b-9476-b11d971ebc43	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	9874791339964798924215de3674eccf	f
dc46d02b-9fa9-470f-a052-9925d6e977de	resting-members-nvuddxmmk57i	resting-members-nvuddxmmk57i	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	985b6928-e5ed-482b-86f5-8e7af47f0d5f	a5beed40-0c5d-4362-b6d6-831dd8c577e8	985b6928-e5ed-482b-86f5-8e7af47f0d5f	1	CREATE	COMPLETE	Stack CREATE completed successfully		1795357023.4565783	\N	\N	\N	t	78b63b34-cf20-43ab-9c50-4fdfce2a8c9a	78b63b34-cf20-43ab-9c50-4fdfce2a8c9a	e34839be-3392-432b-98a0-100c6a3bf9ea	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	9874791339964798924215de3674eccf	f
4ad16bd0-f5ac-444e-8b8c-204f31bdf425	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u	resting-members-nvuddxmmk57i-0-mweh2p7wnq5u	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	dc46d02b-9fa9-470f-a052-9925d6e977de	f918750e-9007-406f-b658-87d3ff66c3b4	985b6928-e5ed-482b-86f5-8e7af47f0d5f	2	CREATE	COMPLETE	Stack CREATE completed successfully		1795357023.5339286	\N	\N	\N	t	f53b3ce1-7d00-4f94-9002-f7adeebc0cf0	f53b3ce1-7d00-4f94-9002-f7adeebc0cf0	3e730da3-89d3-4f5f-a1a7-b818e9e9f678	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	9874791339964798924215de3674eccf	f
5b5bd7e3-a1d7-455d-a763-f4566685dfa1	resting-members-nvuddxmmk57i-1-izec562m3s5g	resting-members-nvuddxmmk57i-1-izec562m3s5g	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	dc46d02b-9fa9-470f-a052-9925d6e977de	5d04b593-a520-4978-a464-82efb4cdcba6	985b6928-e5ed-482b-86f5-8e7af47f0d5f	2	CREATE	COMPLETE	Stack CREATE completed successfully		1795357023.5340872	\N	\N	\N	t	30d1e4e9-eec1-4d71-acae-0f402f137931	30d1e4e9-eec1-4d71-acae-0f402f137931	6b78be94-26bf-4eb6-976f-9d85f380d3ff	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	9874791339964798924215de3674eccf	f
af5d9f80-7188-48d0-96cf-a5e4c890e5b5	changing	changing	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	\N	\N	af5d9f80-7188-48d0-96cf-a5e4c890e5b5	0	UPDATE	IN_PROGRESS	Stack UPDATE started		1795357024.0962703	1795357026.108585	\N	\N	t	a499e845-4165-4621-b261-562d25f9961b	25b0b84b-eb7e-45a5-bb7d-2d977c5c75cf	989ae73e-64e5-49bb-8853-43ba9cfa434d	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	\N	f
b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	falling	falling	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	\N	\N	b940d8a8-501a-4d85-be9e-ff8db7ca9fd1	0	DELETE	IN_PROGRESS	Stack DELETE started		1795357024.4026906	\N	\N	\N	t	5e20c43c-e398-40b1-91e3-05dda0822272	5e20c43c-e398-40b1-91e3-05dda0822272	b029e2af-a624-453b-b68e-c26a6892bedd	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	\N	f
57eaec94-bbe9-4519-b142-8ab05244691d	kept	kept	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	\N	\N	57eaec94-bbe9-4519-b142-8ab05244691d	0	SNAPSHOT	IN_PROGRESS	Stack SNAPSHOT started		1795357024.7482777	\N	\N	\N	t	0c04a73b-43dd-403c-93f0-55e45f13b59e	0c04a73b-43dd-403c-93f0-55e45f13b59e	074cd985-7a2d-4be3-b74d-f8ac3ded23f0	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	\N	f
639f3b22-b38e-4458-a8fd-cb5057dbe35b	gone	\N	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	\N	\N	639f3b22-b38e-4458-a8fd-cb5057dbe35b	0	DELETE	COMPLETE	Stack DELETE completed successfully		1795357025.0638225	\N	1795357026.087766	\N	t	724cd79b-624b-400f-862d-3a0366d88535	724cd79b-624b-400f-862d-3a0366d88535	b6587b0f-c8b7-4f38-a754-4857bfbb6273	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	\N	f
727e9f40-b6b7-4ac4-8d1e-872caa498ab5	rising	rising	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	\N	\N	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	0	CREATE	IN_PROGRESS	Stack CREATE started		1795357026.0995586	\N	\N	\N	t	08857dd5-5815-4533-bf8b-3c0868d502c4	\N	a2a5f63c-05b6-406a-b629-eca7e0b2dde8	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	\N	f
fa564dae-0dc7-4744-8e61-8dbb797093a9	rising-nested-7fldihblp4lh	rising-nested-7fldihblp4lh	045a92d8dccb416eb043d03f50adf639	153b988a40134bdf9dd4bcbd5cfdc444	demo	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	452fb661-4dbc-48dd-9f95-6341c2b7f167	727e9f40-b6b7-4ac4-8d1e-872caa498ab5	1	CREATE	IN_PROGRESS	Stack CREATE started		1795357026.1114905	\N	\N	\N	t	ebc99757-14c8-40d6-a8f6-fc7a31b32e05	\N	43f3a42c-c1b3-4b47-92d2-0c56a897c64d	{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	\N	f
\.


--
-- Data for Name: trusts; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.trusts (credential, user_id, project_id, roles, given_up) FROM stdin;
{"kind":"trust","id":"b584bae251d641f3b311477eaa41e528"}	153b988a40134bdf9dd4bcbd5cfdc444	045a92d8dccb416eb043d03f50adf639	["heat_stack_owner","member","reader"]	f
\.


--
-- Data for Name: writers; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.writers (id, groups, "time") FROM stdin;
e442e5a1-98dd-48cc-8934-9ae9bdc99b5a	105	1795357026.24865
\.


--
-- Name: announcements_sequence_seq; Type: SEQUENCE SET; Schema: public; Owner: stoker
--

SELECT pg_catalog.setval('public.announcements_sequence_seq', 1, false);


--
-- Name: events_sequence_seq; Type: SEQUENCE SET; Schema: public; Owner: stoker
--

SELECT pg_catalog.setval('public.events_sequence_seq', 108, true);


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: announcements pk_announcements; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT pk_announcements PRIMARY KEY (sequence);


--
-- Name: change_sets pk_change_sets; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.change_sets
    ADD CONSTRAINT pk_change_sets PRIMARY KEY (id);


--
-- Name: document_parts pk_document_parts; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.document_parts
    ADD CONSTRAINT pk_document_parts PRIMARY KEY (whole, part);


--
-- Name: documents pk_documents; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT pk_documents PRIMARY KEY (digest);


--
-- Name: drift_detections pk_drift_detections; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.drift_detections
    ADD CONSTRAINT pk_drift_detections PRIMARY KEY (id);


--
-- Name: engines pk_engines; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.engines
    ADD CONSTRAINT pk_engines PRIMARY KEY (id);


--
-- Name: events pk_events; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT pk_events PRIMARY KEY (sequence);


--
-- Name: exports pk_exports; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.exports
    ADD CONSTRAINT pk_exports PRIMARY KEY (project_id, name);


--
-- Name: imports pk_imports; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT pk_imports PRIMARY KEY (stack_id, name);


--
-- Name: inputs pk_inputs; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.inputs
    ADD CONSTRAINT pk_inputs PRIMARY KEY (id);


--
-- Name: operations pk_operations; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT pk_operations PRIMARY KEY (id);


--
-- Name: property_sets pk_property_sets; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.property_sets
    ADD CONSTRAINT pk_property_sets PRIMARY KEY (id);


--
-- Name: request_tokens pk_request_tokens; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.request_tokens
    ADD CONSTRAINT pk_request_tokens PRIMARY KEY (project_id, token);


--
-- Name: resources pk_resources; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT pk_resources PRIMARY KEY (uuid);


--
-- Name: sealing_keys pk_sealing_keys; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.sealing_keys
    ADD CONSTRAINT pk_sealing_keys PRIMARY KEY (id);


--
-- Name: snapshots pk_snapshots; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT pk_snapshots PRIMARY KEY (id);


--
-- Name: software_configs pk_software_configs; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.software_configs
    ADD CONSTRAINT pk_software_configs PRIMARY KEY (id);


--
-- Name: software_deployments pk_software_deployments; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.software_deployments
    ADD CONSTRAINT pk_software_deployments PRIMARY KEY (id);


--
-- Name: stack_documents pk_stack_documents; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_documents
    ADD CONSTRAINT pk_stack_documents PRIMARY KEY (stack_id);


--
-- Name: stack_settings pk_stack_settings; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_settings
    ADD CONSTRAINT pk_stack_settings PRIMARY KEY (stack_id);


--
-- Name: stack_tags pk_stack_tags; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_tags
    ADD CONSTRAINT pk_stack_tags PRIMARY KEY (stack_id, "position");


--
-- Name: stacks pk_stacks; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stacks
    ADD CONSTRAINT pk_stacks PRIMARY KEY (id);


--
-- Name: trusts pk_trusts; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.trusts
    ADD CONSTRAINT pk_trusts PRIMARY KEY (credential);


--
-- Name: writers pk_writers; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.writers
    ADD CONSTRAINT pk_writers PRIMARY KEY (id);


--
-- Name: announcements uq_announcements_id; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT uq_announcements_id UNIQUE (id);


--
-- Name: change_sets uq_change_sets_stack_id_name; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.change_sets
    ADD CONSTRAINT uq_change_sets_stack_id_name UNIQUE (stack_id, name);


--
-- Name: events uq_events_id; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT uq_events_id UNIQUE (id);


--
-- Name: stacks uq_stacks_project_id_live_name; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stacks
    ADD CONSTRAINT uq_stacks_project_id_live_name UNIQUE (project_id, live_name);


--
-- Name: ix_announcements_engine; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_announcements_engine ON public.announcements USING btree (engine);


--
-- Name: ix_announcements_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_announcements_stack_id ON public.announcements USING btree (stack_id);


--
-- Name: ix_change_sets_project_stack; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_change_sets_project_stack ON public.change_sets USING btree (project_id, stack_name);


--
-- Name: ix_document_parts_part; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_document_parts_part ON public.document_parts USING btree (part);


--
-- Name: ix_drift_detections_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_drift_detections_stack_id ON public.drift_detections USING btree (stack_id);


--
-- Name: ix_events_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_events_stack_id ON public.events USING btree (stack_id);


--
-- Name: ix_exports_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_exports_stack_id ON public.exports USING btree (stack_id);


--
-- Name: ix_imports_project_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_imports_project_id ON public.imports USING btree (project_id);


--
-- Name: ix_inputs_environment; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_inputs_environment ON public.inputs USING btree (environment);


--
-- Name: ix_inputs_files; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_inputs_files ON public.inputs USING btree (files);


--
-- Name: ix_inputs_template; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_inputs_template ON public.inputs USING btree (template);


--
-- Name: ix_operations_owner; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_owner ON public.operations USING btree (owner);


--
-- Name: ix_operations_parent_operation; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_parent_operation ON public.operations USING btree (parent_operation);


--
-- Name: ix_operations_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_stack_id ON public.operations USING btree (stack_id);


--
-- Name: ix_operations_status; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_status ON public.operations USING btree (status);


--
-- Name: ix_property_sets_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_property_sets_stack_id ON public.property_sets USING btree (stack_id);


--
-- Name: ix_resources_physical_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_resources_physical_id ON public.resources USING btree (physical_id);


--
-- Name: ix_resources_stack_position; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_resources_stack_position ON public.resources USING btree (stack_id, "position");


--
-- Name: ix_snapshots_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_snapshots_stack_id ON public.snapshots USING btree (stack_id);


--
-- Name: ix_software_configs_project_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_configs_project_id ON public.software_configs USING btree (project_id);


--
-- Name: ix_software_deployments_config_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_deployments_config_id ON public.software_deployments USING btree (config_id);


--
-- Name: ix_software_deployments_project_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_deployments_project_id ON public.software_deployments USING btree (project_id);


--
-- Name: ix_software_deployments_server_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_deployments_server_id ON public.software_deployments USING btree (server_id);


--
-- Name: ix_stack_tags_tag; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stack_tags_tag ON public.stack_tags USING btree (tag);


--
-- Name: ix_stacks_credential; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_credential ON public.stacks USING btree (credential);


--
-- Name: ix_stacks_deleted_at; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_deleted_at ON public.stacks USING btree (deleted_at);


--
-- Name: ix_stacks_parent_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_parent_id ON public.stacks USING btree (parent_id);


--
-- Name: ix_stacks_parent_resource; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_parent_resource ON public.stacks USING btree (parent_resource);


--
-- Name: ix_stacks_project_created; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_project_created ON public.stacks USING btree (project_id, created_at);


--
-- Name: ix_stacks_root_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_root_id ON public.stacks USING btree (root_id);


--
-- Name: ix_trusts_given_up; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_trusts_given_up ON public.trusts USING btree (given_up);


--
-- Name: ix_trusts_user_project; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_trusts_user_project ON public.trusts USING btree (user_id, project_id);


--
-- Name: stack_documents fk_stack_documents_stack_id; Type: FK CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_documents
    ADD CONSTRAINT fk_stack_documents_stack_id FOREIGN KEY (stack_id) REFERENCES public.stacks(id) ON DELETE CASCADE;


--
-- Name: stack_tags fk_stack_tags_stack_id; Type: FK CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_tags
    ADD CONSTRAINT fk_stack_tags_stack_id FOREIGN KEY (stack_id) REFERENCES public.stacks(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--

\unrestrict pRQ9n7cpJRULsS7Qg5J5ZKCMhDRJGOPQC46xVsvFShMVCmI4aow54ztGc3cFAte

