// Runs of words that wallets are restored from, found without a name before them.
#include "base/seed_phrase.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace interlock {
namespace {

// The English list of BIP 39, each word by its first four letters: by those alone it can be told
// from all others, as the standard has it. In the order of the alphabet, blanks behind short words.
constexpr std::string_view kBeginnings =
    "abanabilableabouabovabseabsoabstabsuabusacceacciaccoaccuachiacidacouacquacroact actiacto"
    "actractuadapadd addiaddradjuadmiaduladvaadviaeroaffaaffoafraagaiage agenagreaheaaim air "
    "airpaislalaralbualcoaleralieall allealloalmoalonalphalrealsoaltealwaamatamazamonamouamus"
    "analanchanciangeanglangranimanklannoannuanotanswanteantianxiany aparapolappeapplapprapri"
    "archarctareaarenarguarm armearmoarmyarouarraarrearriarroart arteartiartwask aspeassaasse"
    "assiassuasthathlatomattaatteattiattrauctaudiauguauntauthautoautuaveravocavoiawakawaraway"
    "awesawfuawkwaxisbabybachbacobadgbag balabalcballbambbanabannbar barebargbarrbasebasibask"
    "battbeacbeanbeaubecabecobeefbefobegibehabehibelibelobeltbencbenebestbetrbettbetwbeyobicy"
    "bid bikebindbiolbirdbirtbittblacbladblamblanblasbleablesblinblooblosbloublueblurblusboar"
    "boatbodyboilbombbonebonubookboosbordboriborrbossbottbounbox boy bracbraibranbrasbravbrea"
    "breebricbridbriebrigbrinbrisbrocbrokbronbroobrotbrowbrusbubbbuddbudgbuffbuilbulbbulkbull"
    "bundbunkburdburgbursbus busibusybuttbuyebuzzcabbcabicablcactcagecakecallcalmcamecampcan "
    "canacanccandcanncanocanvcanycapacapicaptcar carbcardcargcarpcarrcartcasecashcasicastcasu"
    "cat catacatccatecattcaugcauscautcaveceilcelecemecenscentcerecertchaichalchamchanchaochap"
    "charchaschatcheacheccheechefchercheschicchiechilchimchoichoochrochucchunchurcigacinncirc"
    "citicityciviclaiclapclarclawclaycleaclerclevclicclieclifclimclinclipclocclogclosclotclou"
    "clowclubclumclusclutcoaccoascococodecoffcoilcoincollcolocolucombcomecomfcomicommcompconc"
    "condconfcongconnconscontconvcookcoolcoppcopycoracorecorncorrcostcottcouccouncoupcourcous"
    "covecoyocraccradcrafcramcrancrascratcrawcrazcreacredcreecrewcriccrimcriscritcropcroscrou"
    "crowcruccruecruicrumcruncruscry cryscubecultcup cupbcuricurrcurtcurvcushcustcutecycldad "
    "damadampdancdangdaridashdaugdawnday dealdebadebrdecadecedecidecldecodecrdeerdefedefidefy"
    "degrdeladelidemademidenidentdenydepadepedepodeptdepuderidescdesedesideskdespdestdetadete"
    "devedevidevodiagdialdiamdiardicediesdietdiffdigidigndiledinndinodiredirtdisadiscdisedish"
    "dismdisodispdistdivedividivodizzdoctdocudog dolldolpdomadonadonkdonodoordosedoubdovedraf"
    "dragdramdrasdrawdreadresdrifdrildrindripdrivdropdrumdry duckdumbduneduridustdutcdutydwar"
    "dynaeageeaglearlearnearteasieasteasyechoecoleconedgeediteduceffoegg eigheithelboeldeelec"
    "elegelemelepelevelitelseembaemboembremeremotemplempoemptenabenacend endlendoenemenerenfo"
    "engaengienhaenjoenlienouenrienroensuenteentientrenveepisequaequiera eraseroderoserroerup"
    "escaessaesseestaeterethievidevilevokevolexacexamexceexchexciexclexcuexecexerexhaexhiexil"
    "exisexitexotexpaexpeexpiexplexpoexprexteextreye eyebfabrfacefacufadefainfaitfallfalsfame"
    "famifamofan fancfantfarmfashfat fatafathfatifaulfavofeatfebrfedefee feedfeelfemafencfest"
    "fetcfevefew fibefictfielfigufilefilmfiltfinafindfinefingfinifirefirmfirsfiscfishfit fitn"
    "fix flagflamflasflatflavfleefligflipfloaflocflooflowfluiflusfly foamfocufog foilfoldfoll"
    "foodfootforcforeforgforkfortforuforwfossfostfounfox fragframfreqfresfriefrinfrogfronfros"
    "frowfrozfruifuelfun funnfurnfuryfutugadggaingalagallgamegap garagarbgardgarlgarmgas gasp"
    "gategathgauggazegenegenigenrgentgenugestghosgiangiftgiggginggiragirlgivegladglanglarglas"
    "glidglimglobglooglorglovglowgluegoatgoddgoldgoodgoosgorigospgossgovegowngrabgracgraigran"
    "grapgrasgravgreagreegridgriegritgrocgrougrowgrunguarguesguidguilguitgun gym habihairhalf"
    "hammhamshandhappharbhardharsharvhat havehawkhazaheadhealhearheavhedgheighellhelmhelphen "
    "herohiddhighhillhinthip hirehisthobbhockholdholeholihollhomehonehoodhopehornhorrhorshosp"
    "hosthotehourhovehub hugehumahumbhumohundhunghunthurdhurrhurthusbhybrice iconideaidenidle"
    "ignoill illeillnimagimitimmeimmuimpaimpoimprimpuinchinclincoincrindeindiindoinduinfainfl"
    "infoinhainheinitinjeinjuinmainneinnoinpuinquinsainseinsiinspinstintainteintoinveinviinvo"
    "ironislaisolissuitemivorjackjagujar jazzjealjeanjelljewejob joinjokejourjoy judgjuicjump"
    "jungjunijunkjustkangkeenkeepketckey kickkid kidnkindkingkisskit kitckitekittkiwikneeknif"
    "knocknowlab labelaboladdladylakelamplanglaptlarglatelatilauglaunlavalaw lawnlawslayelazy"
    "leadleaflearleavlectleftleg legalegeleislemolendlenglensleoplesslettleveliarlibelibrlice"
    "lifeliftlighlikelimblimilinklionliqulistlittlivelizaloadloanlobslocalocklogilonelongloop"
    "lottloudlounloveloyalucklugglumblunaluncluxulyrimachmad magimagnmaidmailmainmajomakemamm"
    "man manamandmangmansmanumaplmarbmarcmargmarimarkmarrmaskmassmastmatcmatemathmatrmattmaxi"
    "mazemeadmeanmeasmeatmechmedamedimelomeltmembmemomentmenumercmergmerimerrmeshmessmetameth"
    "middmidnmilkmillmimimindminiminominumiramirrmisemissmistmix mixemixtmobimodemodimom mome"
    "monimonkmonsmontmoonmoramoremornmosqmothmotimotomounmousmovemovimuchmuffmulemultmuscmuse"
    "mushmusimustmutumysemystmythnaivnamenapknarrnastnatinatunearneckneedneganeglneitnephnerv"
    "nestnet netwneutnevenewsnextnicenighnoblnoisnominoodnormnortnosenotanotenothnotinovenow "
    "nuclnumbnursnut oak obeyobjeobliobscobseobtaobvioccuoceaoctoodoroff offeoffiofteoil okay"
    "old olivolymomitonceone onioonlionlyopenoperopinoppooptioranorbiorchordeordiorgaorieorig"
    "orphostrotheoutdouteoutpoutsovalovenoverown owneoxygoystozonpactpaddpagepairpalapalmpand"
    "panepanipantpapeparapareparkparrpartpasspatcpathpatipatrpattpauspavepaympeacpeanpearpeas"
    "pelipen penapencpeoppeppperfpermperspet phonphotphraphyspianpicnpictpiecpig pigepillpilo"
    "pinkpionpipepistpitcpizzplacplanplasplatplaypleapledplucplugplunpoempoetpoinpolapolepoli"
    "pondponypoolpopuportposiposspostpotapottpovepowdpowepracpraipredprefprepprespretprevpric"
    "pridprimprinprioprisprivprizprobprocprodprofprogprojpromproopropprosprotprouprovpublpudd"
    "pullpulppulspumppuncpupipupppurcpuripurppurspushput puzzpyraqualquanquarquesquicquitquiz"
    "quotrabbraccracerackradaradirailrainraisrallramprancrandrangrapirareraterathraveraw razo"
    "readrealreasrebereburecarecerecirecorecyredureflreforefuregiregrregurejerelarelerelirely"
    "remaremeremiremorendrenerentreopreparepereplreporequrescreseresiresorespresuretiretrretu"
    "reunreverevirewarhytrib ribbricerichrideridgriflrighrigiringriotrippriskriturivariveroad"
    "roasroboroburockromaroofrookroomroserotarougrounroutroyarubbruderug rulerun runwrurasad "
    "saddsadnsafesailsalasalmsalosaltsalusamesampsandsatisatosaucsaussavesay scalscanscarscat"
    "scenscheschosciescisscorscouscrascrescriscrusea searseasseatsecosecrsectsecuseedseeksegm"
    "selesellsemisenisenssentseriservsesssettsetuseveshadshafshalsharshedshelshershieshifshin"
    "shipshivshocshoeshooshopshorshoushovshrishrushufshy siblsicksidesiegsighsignsilesilksill"
    "silvsimisimpsincsingsiresistsitusix sizeskatsketski skilskinskirskulslabslamsleeslenslic"
    "slidsligslimslogslotslowslussmalsmarsmilsmoksmoosnacsnaksnapsnifsnowsoapsoccsocisocksoda"
    "softsolasoldsolisolusolvsomesongsoonsorrsortsoulsounsoupsoursoutspacsparspatspawspeaspec"
    "speespelspensphespicspidspikspinspirsplispoisponspoosporspotspraspresprispy squasquesqui"
    "stabstadstafstagstaistamstanstarstatstaysteasteestemstepstersticstilstinstocstomstonstoo"
    "storstovstrastrestristrostrustudstufstumstylsubjsubmsubwsuccsuchsuddsuffsugasuggsuitsumm"
    "sun sunnsunssupesuppsuprsuresurfsurgsurpsurrsurvsuspsustswalswamswapswarsweasweeswifswim"
    "swinswitsworsymbsympsyrusysttabltacktag tailtaletalktanktapetargtasktasttatttaxiteacteam"
    "tellten tenatenntenttermtesttextthanthatthemthentheothertheythinthisthouthrethrithrothum"
    "thunticktidetigetilttimbtimetinytip tiretisstitltoastobatodatoddtoe togetoiltoketomatomo"
    "tonetongtonitooltoottop topitopptorctorntorttosstotatourtowatowetowntoy tractradtraftrag"
    "traitrantraptrastravtraytreatreetrentriatribtrictrigtrimtriptroptroutructruetrultrumtrus"
    "truttry tubetuittumbtunatunnturkturnturttweltwentwictwintwistwo typetypiuglyumbrunabunaw"
    "uncluncoundeundounfaunfounhaunifuniqunitunivunknunlountiunusunveupdaupgruphouponuppeupse"
    "urbaurgeusaguse usedusefuselusuautilvacavacuvaguvalivallvalvvan vanivapovarivastvaulvehi"
    "velvvendventvenuverbveriversveryvessveteviabvibrvicivictvideviewvillvintviolvirtviruvisa"
    "visivisuvitavivivocavoicvoidvolcvoluvotevoyawagewagowaitwalkwallwalnwantwarfwarmwarrwash"
    "waspwastwatewaveway wealweapwearweasweatweb weddweekweirwelcwestwet whalwhatwheawheewhen"
    "wherwhipwhiswidewidtwifewildwillwin windwinewingwinkwinnwintwirewisdwisewishwitnwolfwoma"
    "wondwoodwoolwordworkworlworrwortwrapwrecwreswriswritwronyardyearyellyou younyoutzebrzero"
    "zonezoo ";
constexpr std::size_t kBeginning = 4;
static_assert(kBeginnings.size() == 2048 * kBeginning);

constexpr std::size_t kWordMin = 3;
constexpr std::size_t kWordMax = 8;
constexpr std::size_t kPhraseWordsMin = 12;
// Blanks, commas, line ends, and the numbers in "1. legal 2. winner".
constexpr std::size_t kGapMax = 6;
constexpr std::string_view kBetween = " \t\r\n,.)-|\"'0123456789";

bool is_letter(char c) {
    const char small = static_cast<char>(c | 0x20);
    return small >= 'a' && small <= 'z';
}

bool is_seed_word(std::string_view word) {
    std::string key = to_lower(word.substr(0, kBeginning));
    key.resize(kBeginning, ' ');
    std::size_t low = 0;
    std::size_t high = kBeginnings.size() / kBeginning;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        const int order = kBeginnings.substr(middle * kBeginning, kBeginning).compare(key);
        if (order == 0) {
            return true;
        }
        (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
    }
    return false;
}

struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t words = 0;

    void take(std::size_t word_begin, std::size_t word_end) {
        begin = words == 0 ? word_begin : begin;
        end = word_end;
        ++words;
    }
};

// The first run of words at or after `from` that all are as `is_member` wants them.
template <class Member>
Run run_from(std::string_view text, std::size_t from, Member is_member) {
    Run run;
    std::size_t at = from;
    while (at < text.size()) {
        if (!is_letter(text[at])) {
            const bool goes_on =
                kBetween.find(text[at]) != std::string_view::npos && at - run.end < kGapMax;
            if (!goes_on && run.words >= kPhraseWordsMin) {
                return run;
            }
            run = goes_on ? run : Run();
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_letter(text[end])) {
            ++end;
        }
        if (end - at >= kWordMin && end - at <= kWordMax && is_member(text.substr(at, end - at))) {
            run.take(at, end);
        } else if (run.words >= kPhraseWordsMin) {
            return run;
        } else {
            run = {};
        }
        at = end;
    }
    return run.words >= kPhraseWordsMin ? run : Run();
}

}  // namespace

SecretMatch seed_phrase_from(std::string_view text, std::size_t from) {
    constexpr std::size_t kTextMin = kPhraseWordsMin * (kWordMin + 1) - 1;
    if (text.size() < from + kTextMin) {
        return {};
    }
    // Most texts have no twelve words of such lengths in a row: only then is the list looked at.
    const Run any = run_from(text, from, [](std::string_view) { return true; });
    if (any.words == 0) {
        return {};
    }
    const Run found = run_from(text, any.begin, is_seed_word);
    return {found.begin, found.end - found.begin, "seed_phrase"};
}

}  // namespace interlock
