// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include "host/model_texts.h"

namespace {
struct List {
  std::string_view two_letters, three_letters, words;
};

// Abbreviations that usually end a sentence if a capital follows (etc., Inc., a.m., usw.) are left out.
constexpr List kLists[] = {
    {"en", "eng",
        "Mr Mrs Ms Mx Messrs Dr Drs Prof Revd Rev Fr Sr Hon Pres Gov Sen Rep Gen Col Lt Maj Capt Cpt Sgt Cpl Pvt Adm "
        "Cmdr Insp Supt Det St Ste Mt Ft e.g i.e cf viz vs al approx esp ca c.f incl resp no# nos# p# pp# fig# figs# "
        "ch# chs# sec# secs# vol# vols# art# eq# eqs# ed# app# par# para# ext# tel# Jan# Feb# Mar# Apr# Jun# Jul# Aug# "
        "Sep# Sept# Oct# Nov# Dec# Op# Ave# Blvd# Rd#"},
    {"de", "deu",
        "# Dr Prof Hr Hrn Fr Frl Dipl Ing Hptm Oblt Lt Gen Maj Hl St Sr Jr Mag med jur phil rer nat theol habil h.c "
        "z.B z d.h d h u.a u s o a ä i z.T z.Zt v g bzw ca geb gest verh bes evtl ggf inkl exkl insb insg sog vgl zzgl "
        "abzgl zit Abb# Abs# Abschn# Abt# Anm# Art# Aufl# Bd# Bde# Kap# Nr# Nrn# Pos# S# Tab# Taf# Tel# Ziff# Z# Hs Fa "
        "Fam Jan# Feb# Apr# Aug# Sept# Okt# Nov# Dez# max min mind Bhf Hbf -str# -Str# -straße# Pl# dt engl frz lat "
        "ehem ev kath röm österr schweiz allg a.d i.d i.A i.V m.E"},
    {"fr", "fra",
        "M MM Mgr Dr Drs pr prof Me Mes Mme Mmes Mlle Mlles St Ste gén Gal col Cdt Cap Capt Lt Sgt Adj av bd boul pl "
        "rte chap cf env vol# vols# chap# art# fig# figs# no# nos# n# p# pp# t# tél# al# § éd# ann# tab# janv# févr# "
        "avr# juil# sept# oct# nov# déc# c.-à-d Cie réf# r.-v R.P S.A.R S.M N.B p.ex"},
    {"es", "spa",
        "Sr Sra Sres Sras Srta Srtas Dr Dra Dres Prof Profa Lic Ing Arq Abg D Da Dña Dª D.ª Don Fr Gral Cnel Cap Tte "
        "Cmte Sgto Mons Excmo Excma Ilmo Ilma Rvdo Sto Sta S Ud Uds Vd Vds EE JJ Ests CC.OO Hnos Cía Av Avda Bco C "
        "Ctra Pza Pl Dpto Dep art# arts# cap# caps# fig# figs# núm# núms# n# nº# n.º# pág# págs# p# pp# vol# vols# t# "
        "tel# tfno# aprox cf p.ej ej vid ed# ss# máx mín ene# feb# mar# abr# jun# jul# ago# sep# sept# oct# nov# dic#"},
    {"it", "ita",
        "Sig Sigg Sig.ra Sig.na Sigra Dott Dott.ssa Dr Dr.ssa Prof Prof.ssa Avv Ing Arch Geom Rag On Sen Gen Col Cap "
        "Magg Ten Serg Mons Don Fra S SS Sta P.zza V.le C.so V Pza es p.es ad.es cfr ca tel# art# artt# cap# capp# "
        "fig# figg# n# nn# num# pag# pagg# p# pp# par# sez# tab# vol# voll# ed# Spett Egr Gent Gent.mo Ill.mo gen# "
        "feb# mar# apr# mag# giu# lug# ago# set# ott# nov# dic#"},
    {"pt", "por",
        "Sr Sra Srs Sras Srta Dr Dra Drs Dras Prof Profa Eng Enga Arq Exmo Exma Exmos Gen Gal Cel Cap Maj Ten Sgto Pe "
        "D Dom S Sto Sta Fr Mons Av R Rod Pça Trav Lgo Al Est Edif Ed Dep Min Pres Gov Sen art# arts# cap# caps# fig# "
        "figs# n# nº# n.º# núm# pág# págs# p# pp# vol# vols# t# tel# aprox cf p.ex v.g ca Cia jan# fev# mar# abr# mai# "
        "jun# jul# ago# set# out# nov# dez#"},
    {"nl", "nld",
        "Dhr Mevr Mw Mej dr drs ing mr prof ds bc jhr Z.K.H St Ste gen kol kapt lt maj sgt bijv b.v d.w.z o.a m.n "
        "m.b.t t.a.v n.a.v i.v.m t.o.v incl excl resp evt ca zgn zog vgl cf nl art# afb# blz# p# pp# fig# hfdst# nr# "
        "nrs# par# tab# tel# vol# dl# jan# febr# apr# aug# sept# okt# nov# dec# mgr burg wed fam a.d"},
    {"pl", "pol",
        "# dr dra prof hab inż mgr lek med adw red ks bp abp kard gen płk ppłk mjr kpt por ppor sierż św bł p pp ul al "
        "pl os woj pow gm im m.in np tzn tzw tj t.j ok wg zob ds nt nr# nry# art# ust# pkt# par# poz# rozdz# rys# str# "
        "s# tab# tel# tom# t# ryc# r# w# godz# ur zm ang niem franc łac ros gr hiszp wł"},
    {"cs", "ces",
        "# p pí sl dr Dr MUDr JUDr PhDr RNDr MVDr PaedDr Ing Mgr Bc doc prof akad arch plk gen kpt por sv ul nám tř "
        "např tj tzv tzn mj popř resp př cca zejm vč srov viz č# čl# odst# písm# obr# str# s# tab# kap# roč# sv# tel# "
        "hl m.n.m sev již záp vých angl něm fr lat st stol r# nar zemř"},
    {"ru", "rus",
        "г гг ул пл просп пер наб бул кв корп стр оф пос дер с обл р-н им св о тов гр г-н г-жа проф акад доц инж канд "
        "ген полк подп майор кап лейт серж адм зам зав нач гл см ср напр т.е т.к е к ок ориг прим изд ред сост авт "
        "рис# илл# табл# с# стр# гл# п# пп# ст# ч# вып# т# тт# № тел# англ нем франц лат греч рус янв# февр# апр# авг# "
        "сент# окт# нояб# дек# тыс# млн# млрд# руб# коп# д#"}};

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }
}  // namespace

std::string abbreviations_of(std::string_view language) {
  std::string code(language.substr(0, language.find_first_of("_-@")));
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string all;
  for (const List& list : kLists) {
    if (code == list.two_letters || code == list.three_letters) return std::string(list.words);
    all += (all.empty() ? "" : " ") + std::string(list.words);
  }
  return all;
}

std::string abbreviations_in(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (is_space(c) && words.size() > 1 && words.back() == '.') words.pop_back();
    words += is_space(c) ? ' ' : c;
  }
  if (words.size() > 1 && words.back() == '.') words.pop_back();
  return words;
}
